//! Kinds of mistakes.

/// Declares the enum of kinds, the slug of each, and the public list of slugs and meanings.
macro_rules! kinds {
    ($($name:ident $slug:literal $meaning:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum MistakeKind {
            $(#[doc = $meaning] $name,)*
        }

        impl MistakeKind {
            /// Returns the short stable name of the kind.
            pub(super) fn slug(self) -> &'static str {
                match self {
                    $(Self::$name => $slug,)*
                }
            }
        }

        /// All kinds of mistakes that the lint phase reports, as short stable name and meaning.
        pub const KINDS: &[(&str, &str)] = &[$(($slug, $meaning),)*];
    };
}

kinds! {
    // Files.
    MissingFile "missing-file" "missing file that others refer to by name",
    StrayFile "stray-file" "unused file: no later phase reads it",
    RepeatedKey "repeated-key" "repeated key in an object",
    Dialect "dialect" "unsupported dialect in `$schema`",
    IdMismatch "id-mismatch" "`$id` does not match the path of the file",
    TitleMismatch "title-mismatch" "the title does not match the path of the file",
    VersionMismatch "version-mismatch" "`version` is not the version of the protocol",

    // Fields of any object in the files.
    UnsupportedKeyword "unsupported-keyword" "unknown keyword",
    MissingKeyword "missing-keyword" "missing keyword",
    MissingDescription "missing-description" "missing or blank description",
    MissingText "missing-text" "missing or blank text",
    Malformed "malformed" "a value has the wrong JSON type",
    EmptyList "empty-list" "empty list",
    DuplicateEntry "duplicate-entry" "duplicate entry in a list",

    // Names and references.
    NameCase "name-case" "the name of a type is not in PascalCase",
    PropertyCase "property-case" "the name of a member is not in snake_case",
    DuplicateName "duplicate-name" "a name differs from another only in case",
    UnusedDefinition "unused-definition" "unused definition: no packet refers to it",
    ExternalReference "external-reference" "a reference is not relative",
    DeepReference "deep-reference" "a reference points inside a definition",
    DanglingReference "dangling-reference" "dangling reference",
    ReferenceCycle "reference-cycle" "cycle of references",

    // Senders of packets.
    UnknownLayer "unknown-layer" "unknown layer: no packet is sent by it",
    MissingLayer "missing-layer" "the table of senders lacks a layer",
    UnsentPacket "unsent-packet" "no layer sends a packet",

    // Definitions.
    UnsupportedType "unsupported-type" "a `type` is not supported",
    Untyped "untyped" "only `JsonValue` may accept any value",
    Alias "alias" "a definition is only a reference",
    ConstUsed "const-used" "`const` is used instead of an enum with one value",
    EnumForm "enum-form" "an enum is not a `oneOf` of described values",
    EmptyEnum "empty-enum" "empty enum",
    EnumSeveral "enum-several" "a branch of an enum has several values",
    EnumValue "enum-value" "the value of an enum cannot be converted to a Rust name",
    EnumTwice "enum-twice" "two values of an enum differ only in case or in `_`",
    UnionBranch "union-branch" "a branch of a union is not a reference to an object, enum or scalar",
    UnionOverlap "union-overlap" "two branches of a union have the same JSON type",
    UnsupportedPattern "unsupported-pattern" "a pattern is not of the form `^literal[class]+$`",
    UnsupportedFormat "unsupported-format" "a format is not `date-time`",
    MixedConstraints "mixed-constraints" "a string has two kinds of constraints",
    IntegerUnbounded "integer-unbounded" "an integer is not bounded within 0 to 2^53-1",
    IntegerNegative "integer-negative" "an integer may be below 0",
    BoundType "bound-type" "a bound has the wrong number type",
    BoundsOrder "bounds-order" "the lower bound is greater than the upper bound",

    // Objects and their fields.
    ObjectOpen "object-open" "an object is not closed",
    RequiredUnknown "required-unknown" "`required` names an unknown member",
    InlineObject "inline-object" "inline object: objects must be named definitions",
    InlineEnum "inline-enum" "inline enum: enums must be named definitions",
    InlineUnion "inline-union" "inline union: unions must be named definitions",
    InlineScalar "inline-scalar" "inline number: constrained scalars must be named definitions",
    InlineBound "inline-bound" "a constraint is on a member instead of on a scalar",
    Nullable "nullable" "needlessly nullable member",
    DefaultUnfit "default-unfit" "a default is invalid for its member",
    ExampleUnfit "example-unfit" "the example of a member is invalid for it",
    DefaultRequired "default-required" "a required member has a default",

    // Conditionals.
    ConditionalForm "conditional-form" "unsupported form of a conditional",
    ConditionalProperty "conditional-property" "a conditional names an unknown member",
    ConditionalValue "conditional-value" "a conditional names an unknown value of its enum",
    ConditionalGap "conditional-gap" "a value of the enum is neither in a condition nor listed as outside it",
    ConditionalBoth "conditional-both" "a value is both in a condition and listed as outside it",
    ConditionalIdle "conditional-idle" "a conditional requires a member that is always required",

    // Branches of conditionals.
    BranchGap "branch-gap" "a branch of a conditional is not described",
    BranchTwice "branch-twice" "two branches of an object have the same name or the same case",
    BranchIdle "branch-idle" "a branch belongs to no conditional",
    BranchName "branch-name" "branch name is not a valid function name",
    BranchMember "branch-member" "a branch leaves out a required or unknown member",

    // Packets.
    PacketMembers "packet-members" "a packet has other members than header, mcp and payload",
    PacketReference "packet-reference" "a member of a packet has the wrong reference",
    PacketTag "packet-tag" "the header does not state the type of the packet",
    PacketMetadata "packet-metadata" "a packet refuses metadata",
    PacketBase "packet-base" "the base of packets differs from the packets",
    PacketList "packet-list" "files, union and enum of the packets disagree",

    // Rules.
    UnknownCode "unknown-code" "unknown rule code",
    DuplicateCode "duplicate-code" "two rules have the same code",
    RuleOrder "rule-order" "the rules are not numbered consecutively",
    UnknownStage "unknown-stage" "unknown stage",
    UnknownSeverity "unknown-severity" "unknown severity",
    HelpId "help-id" "the id of a help is not in snake_case, or not unique within its rule",
    HelpBraces "help-braces" "a help has braces around something other than the name of a placeholder",
    PredicateTwice "predicate-twice" "two predicates have the same name",
    PredicateParameter "predicate-parameter" "invalid name of a predicate's parameter",
    PredicateCode "predicate-code" "the message of a predicate does not begin with the code of its rule",
    PredicateGap "predicate-gap" "a predicate does not list a value of an enum",
    PredicateHolds "predicate-holds" "unknown form of `holds` of a predicate",
    PredicateBraces "predicate-braces" "a text of a predicate has braces around something other than a parameter",

    // The state machine.
    DuplicateId "duplicate-id" "two entries of a list have the same id",
    IdForm "id-form" "an id has the wrong case",
    InitialState "initial-state" "not exactly one state without sub-states is initial",
    UnknownState "unknown-state" "unknown state or sub-state",
    UnknownEvent "unknown-event" "unknown event",
    UnknownPacket "unknown-packet" "unknown packet",
    BareTarget "bare-target" "a row leads to a state with sub-states, but not to one of them",
    WildcardNotAlone "wildcard-not-alone" "`ANY` or `SAME` is combined with other states",
    RowOverlap "row-overlap" "two rows have the same state and event",
    UnreachableState "unreachable-state" "unreachable state",
    DeadEvent "dead-event" "an event is not a packet and has no row",
    GuardForm "guard-form" "a guard does not check exactly one value of a packet",
    GuardPointer "guard-pointer" "dangling pointer in a guard",
    GuardOptional "guard-optional" "the guard of an event checks an optional member",
    GuardNotEnum "guard-not-enum" "a guard checks a value that is not an enum",
    GuardValue "guard-value" "a guard names an unknown value",
    DerivedValues "derived-values" "a derived fact needs either an existing `enum` or `values`",
    UnknownDerived "unknown-derived" "unknown derived fact",
    DerivedPacket "derived-packet" "a derived fact belongs to another packet",
    GuardGap "guard-gap" "some packets match no event",
    GuardOverlap "guard-overlap" "some packets match two events",
    TypedState "typed-state" "a typed state is not a valid Rust type",
    UnknownTypedState "unknown-typed-state" "unknown typed state",
    UnknownFact "unknown-fact" "unknown fact of an episode",
    UnknownMethod "unknown-method" "unknown method of the typed API",
    RefusalForm "refusal-form" "a refusal depends neither on the table nor on one fact",
    RefusalContradicts "refusal-contradicts" "an explanation contradicts the rows or the code of its cell",
    RefusalGap "refusal-gap" "an illegal call has no explanation",
    RefusalIdle "refusal-idle" "an explanation applies to no call",
    RefusalBraces "refusal-braces" "the text of a compile error has braces",
    LoopRow "loop-row" "the table lacks rows that the verification loop needs",
}
