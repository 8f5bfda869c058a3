// Shows the part of the report that the address names.
import { address, route } from "./route.js";
import { calls, episodes } from "./data.js";
import { current, hideEpisode, showEpisode } from "./episode.js";
import { showFindings, showUnknown, showWrites } from "./overview.js";
import { chooseInSide, neighbours, showSide } from "./side.js";
import { showCalls } from "./calls.js";
import { listen } from "./keys.js";

const overview = document.getElementById("overview");

function show() {
  const { episode, packet, place, unknown } = route();
  const before = current.episode;
  showUnknown(unknown);
  document.body.classList.toggle("in-episode", Boolean(episode));
  overview.hidden = Boolean(episode);
  if (!episode) {
    hideEpisode();
    chooseInSide(null);
    const target = place && document.getElementById(place);
    target?.querySelector("details")?.setAttribute("open", "");
    target?.scrollIntoView();
    if (before && !target) scrollTo(0, 0);
    return;
  }
  showEpisode(episode, packet, neighbours(episode));
  if (before === episode) return;
  chooseInSide(episode);
  // For keyboards and screen readers, following a link leads to the episode's heading.
  document.querySelector("#episode h2").focus({ preventScroll: true });
  if (matchMedia("print").matches) return;
  document.getElementById("main").scrollIntoView();
}

showSide();
showFindings();
showWrites();
showCalls();
listen();
addEventListener("routed", show);
addEventListener("popstate", show);
addEventListener("hashchange", show);
// A single episode is shown directly. With an audit log, the overview comes first, since it shows refused calls.
if (location.hash === "" && episodes.length === 1 && !calls) history.replaceState(null, "", address(episodes[0]));
show();
document.documentElement.dataset.ready = "";
