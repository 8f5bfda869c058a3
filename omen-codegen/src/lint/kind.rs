//! The kinds of mistake.

/// Makes the enum of kinds, the slug of each, and the public list of both slug and meaning.
macro_rules! kinds {
    ($($name:ident $slug:literal $meaning:literal,)*) => {
        /// A kind of mistake.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Kind {
            $(#[doc = $meaning] $name,)*
        }

        impl Kind {
            /// The short stable name of the kind.
            pub(super) fn slug(self) -> &'static str {
                match self {
                    $(Self::$name => $slug,)*
                }
            }
        }

        /// Every kind of mistake that the lint phase reports: short stable name, meaning.
        pub const KINDS: &[(&str, &str)] = &[$(($slug, $meaning),)*];
    };
}

kinds! {
    // Files.
    MissingFile "missing-file" "a file that others refer to by name is not there",
    StrayFile "stray-file" "a file is none that the later phases read",
    RepeatedKey "repeated-key" "an object has a key twice",
    Dialect "dialect" "`$schema` is not the dialect that is supported",
    IdMismatch "id-mismatch" "`$id` does not fit the path of the file",
    TitleMismatch "title-mismatch" "the title does not fit the path of the file",
    VersionMismatch "version-mismatch" "`version` is not the version of the protocol",

    // Members of any object in the files.
    UnsupportedKeyword "unsupported-keyword" "a keyword stands where it is not known",
    MissingKeyword "missing-keyword" "a keyword is not there",
    MissingDescription "missing-description" "missing or blank description",
    MissingText "missing-text" "missing or blank text",
    Malformed "malformed" "a value has the wrong JSON type",
    EmptyList "empty-list" "a list has no entry",
    DuplicateEntry "duplicate-entry" "a list has an entry twice",

    // Names and references.
    NameCase "name-case" "the name of a type is not in PascalCase",
    PropertyCase "property-case" "the name of a member is not in snake_case",
    DuplicateName "duplicate-name" "a name is taken, but for the case of letters",
    UnusedDefinition "unused-definition" "no packet makes use of a definition",
    ExternalReference "external-reference" "a reference is not relative",
    DeepReference "deep-reference" "a reference leads into a definition",
    DanglingReference "dangling-reference" "a reference leads to nothing",
    ReferenceCycle "reference-cycle" "references lead round in a circle",

    // Who sends what.
    UnknownLayer "unknown-layer" "a layer is none that a packet can come from",
    MissingLayer "missing-layer" "the table of who sends what lacks a layer",
    UnsentPacket "unsent-packet" "no layer sends a packet",

    // Definitions.
    UnsupportedType "unsupported-type" "a `type` is not supported",
    Untyped "untyped" "a definition takes any value, and is not the one meant for that",
    Alias "alias" "a definition is only a reference",
    ConstUsed "const-used" "`const` is used instead of an enum with one value",
    EnumForm "enum-form" "an enum is not a `oneOf` of described values",
    EmptyEnum "empty-enum" "an enum has no value",
    EnumSeveral "enum-several" "a branch of an enum has several values",
    EnumValue "enum-value" "no name can be made of the value of an enum",
    EnumTwice "enum-twice" "two values of an enum differ at most in case of letters and in `_`",
    UnionBranch "union-branch" "a branch of a union is not a reference to an object, enum or scalar",
    UnionOverlap "union-overlap" "two branches of a union have the same JSON type",
    UnsupportedPattern "unsupported-pattern" "a pattern is not of the form `^literal[class]+$`",
    UnsupportedFormat "unsupported-format" "a format is not `date-time`",
    MixedConstraints "mixed-constraints" "a string has constraints of two sorts",
    IntegerUnbounded "integer-unbounded" "an integer is not bounded within 0 to 2^53-1",
    IntegerNegative "integer-negative" "an integer may be below 0",
    BoundType "bound-type" "a bound is not a number of the right sort",
    BoundsOrder "bounds-order" "the lower bound is above the upper one",

    // Objects and their members.
    ObjectOpen "object-open" "an object is not closed",
    RequiredUnknown "required-unknown" "`required` names no member of the object",
    InlineObject "inline-object" "an object is written out where it has no name",
    InlineEnum "inline-enum" "an enum is written out where it has no name",
    InlineUnion "inline-union" "a union is written out where it has no name",
    InlineScalar "inline-scalar" "a number is written out where it has no name",
    InlineBound "inline-bound" "a constraint stands on a member instead of on a scalar",
    Nullable "nullable" "a member may be `null` to no purpose",
    DefaultUnfit "default-unfit" "a default is not a value of its member",
    ExampleUnfit "example-unfit" "the example of a member does not fit it",
    DefaultRequired "default-required" "a required member has a default",

    // Conditionals.
    ConditionalForm "conditional-form" "a conditional has a form that is not supported",
    ConditionalProperty "conditional-property" "a conditional names no member of the object",
    ConditionalValue "conditional-value" "a conditional names an unknown value of its enum",
    ConditionalGap "conditional-gap" "a value of the enum is neither in a condition nor said to be outside it",
    ConditionalBoth "conditional-both" "a value is in a condition, and said to be outside it",
    ConditionalIdle "conditional-idle" "a conditional demands what is always required",

    // Branches of conditionals.
    BranchGap "branch-gap" "a branch of a conditional has neither a name nor a description",
    BranchTwice "branch-twice" "two branches of an object have the same name or the same case",
    BranchIdle "branch-idle" "a branch belongs to no conditional",
    BranchName "branch-name" "no function can have the name of a branch",
    BranchMember "branch-member" "a branch leaves out a member that it requires, or that is not there",

    // Packets.
    PacketMembers "packet-members" "a packet has other members than header, mcp and payload",
    PacketReference "packet-reference" "a member of a packet refers to something else",
    PacketTag "packet-tag" "the header does not say the type of the packet",
    PacketMetadata "packet-metadata" "a packet refuses metadata",
    PacketBase "packet-base" "the base of packets is not what every packet has",
    PacketList "packet-list" "files, union and enum of the packets disagree",

    // Rules.
    UnknownCode "unknown-code" "no rule has this code",
    DuplicateCode "duplicate-code" "two rules have the same code",
    RuleOrder "rule-order" "the rules are not numbered one after another",
    UnknownStage "unknown-stage" "unknown stage",
    UnknownSeverity "unknown-severity" "unknown severity",
    HelpId "help-id" "the id of a help is not in snake_case, or taken by another help of its rule",
    HelpBraces "help-braces" "a help has braces around something else than the name of a placeholder",
    PredicateTwice "predicate-twice" "two predicates have the same name",
    PredicateParameter "predicate-parameter" "a parameter of a predicate cannot have this name",
    PredicateCode "predicate-code" "the message of a predicate does not begin with the code of its rule",
    PredicateGap "predicate-gap" "a value of an enum is in no list of a predicate",
    PredicateHolds "predicate-holds" "for which values a predicate holds is not stated in a known form",
    PredicateBraces "predicate-braces" "a text of a predicate has braces around something else than a parameter",

    // The state machine.
    DuplicateId "duplicate-id" "two entries of a list have the same id",
    IdForm "id-form" "an id is not in the case of its sort",
    InitialState "initial-state" "not exactly one state without sub-states is initial",
    UnknownState "unknown-state" "unknown state or sub-state",
    UnknownEvent "unknown-event" "unknown event",
    UnknownPacket "unknown-packet" "unknown packet",
    BareTarget "bare-target" "a row leads to a state and to none of its sub-states",
    WildcardNotAlone "wildcard-not-alone" "`ANY` or `SAME` is combined with other states",
    RowOverlap "row-overlap" "two rows are for the same state and event",
    UnreachableState "unreachable-state" "no run of the table reaches a state",
    DeadEvent "dead-event" "an event is not a packet and has no row",
    GuardForm "guard-form" "a guard does not check one thing in a packet",
    GuardPointer "guard-pointer" "the pointer of a guard leads to nothing",
    GuardOptional "guard-optional" "an event's guard checks what may be absent",
    GuardNotEnum "guard-not-enum" "a guard checks what is not an enum",
    GuardValue "guard-value" "a guard names a value that there is not",
    DerivedValues "derived-values" "a derived fact has not exactly one of `enum`, which is there, and `values`",
    UnknownDerived "unknown-derived" "unknown derived fact",
    DerivedPacket "derived-packet" "a derived fact is about another packet",
    GuardGap "guard-gap" "there are packets for which no event holds",
    GuardOverlap "guard-overlap" "there are packets for which two events hold",
    TypedState "typed-state" "a typed state is not written as Rust writes types",
    UnknownTypedState "unknown-typed-state" "unknown typed state",
    UnknownFact "unknown-fact" "unknown fact of an episode",
    UnknownMethod "unknown-method" "unknown method of the typed API",
    RefusalForm "refusal-form" "a refusal depends neither on the table nor on one fact",
    RefusalContradicts "refusal-contradicts" "an answer contradicts the rows or the code of its cell",
    RefusalGap "refusal-gap" "nothing explains a call that is not legal",
    RefusalIdle "refusal-idle" "an answer that no call gets",
    RefusalBraces "refusal-braces" "the text of a compile error has braces",
    LoopRow "loop-row" "the table does not have the rows that the verification loop needs",
}
