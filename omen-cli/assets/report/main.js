// Shows what the address names.
import { route } from "./route.js";
import { current, hideEpisode, showEpisode } from "./episode.js";
import { showFindings, showUnknown } from "./overview.js";
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
  // A reader who came by a link starts at the name of the episode.
  document.querySelector("#episode h2").focus({ preventScroll: true });
  if (matchMedia("print").matches) return;
  document.getElementById("main").scrollIntoView();
}

showSide();
showFindings();
showCalls();
listen();
addEventListener("routed", show);
addEventListener("popstate", show);
addEventListener("hashchange", show);
show();
document.documentElement.dataset.ready = "";
