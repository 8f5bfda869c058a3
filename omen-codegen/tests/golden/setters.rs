/// Members of `Parcel` that no rule reads.
impl<T> crate::episode::Sent<T> {
    /// What sort of parcel; the name is a keyword of Rust.
    pub fn r#type(mut self, value: impl Into<String>) -> Self {
        let value = value.into();
        let object = &mut self.parcel;
        object.r#type = Some(value);
        self
    }
    /// What stands on it.
    ///
    /// More values are appended to the existing ones.
    pub fn labels(mut self, values: impl IntoIterator<Item = Label>) -> Self {
        let values: Vec<Label> = values.into_iter().collect();
        if !values.is_empty() {
            let object = &mut self.parcel;
            object.labels.get_or_insert_with(Vec::new).extend(values);
        }
        self
    }
    /// Where it goes.
    pub fn floor(mut self, value: impl Into<Floor>) -> Self {
        let value = value.into();
        let object = &mut self.parcel;
        object.floor = Some(value);
        self
    }
    /// What was agreed.
    pub fn terms(mut self, value: crate::episode::Fields) -> Self {
        let value = value.into_map();
        let object = &mut self.parcel;
        object.terms = Some(value);
        self
    }
    /// Anything besides.
    pub fn note(mut self, value: Option<String>) -> Self {
        let object = &mut self.parcel;
        object.note = Some(value);
        self
    }
    /// Whether it may break.
    pub fn fragile(mut self, value: bool) -> Self {
        let object = &mut self.parcel;
        object.fragile = Some(value);
        self
    }
}

/// Members of `Parcel` that no rule reads.
impl crate::episode::Cart {
    /// What sort of parcel; the name is a keyword of Rust.
    pub fn r#type(mut self, value: impl Into<String>) -> Self {
        let value = value.into();
        if let Some(object) = self.parcels.last_mut() {
            object.r#type = Some(value);
        }
        self
    }
    /// What stands on it.
    ///
    /// More values are appended to the existing ones.
    pub fn labels(mut self, values: impl IntoIterator<Item = Label>) -> Self {
        let values: Vec<Label> = values.into_iter().collect();
        if !values.is_empty() && let Some(object) = self.parcels.last_mut() {
            object.labels.get_or_insert_with(Vec::new).extend(values);
        }
        self
    }
    /// Where it goes.
    pub fn floor(mut self, value: impl Into<Floor>) -> Self {
        let value = value.into();
        if let Some(object) = self.parcels.last_mut() {
            object.floor = Some(value);
        }
        self
    }
    /// What was agreed.
    pub fn terms(mut self, value: crate::episode::Fields) -> Self {
        let value = value.into_map();
        if let Some(object) = self.parcels.last_mut() {
            object.terms = Some(value);
        }
        self
    }
    /// Anything besides.
    pub fn note(mut self, value: Option<String>) -> Self {
        if let Some(object) = self.parcels.last_mut() {
            object.note = Some(value);
        }
        self
    }
    /// Whether it may break.
    pub fn fragile(mut self, value: bool) -> Self {
        if let Some(object) = self.parcels.last_mut() {
            object.fragile = Some(value);
        }
        self
    }
}

/// Members of `Parcel` that no rule reads.
impl<T, const K: usize> crate::episode::Order<T, K> {
    /// What sort of parcel; the name is a keyword of Rust.
    pub fn r#type(mut self, value: impl Into<String>) -> Self {
        let value = value.into();
        let object = &mut self.draft.extras;
        object.r#type = Some(value);
        self
    }
    /// What stands on it.
    ///
    /// More values are appended to the existing ones.
    pub fn labels(mut self, values: impl IntoIterator<Item = Label>) -> Self {
        let values: Vec<Label> = values.into_iter().collect();
        if !values.is_empty() {
            let object = &mut self.draft.extras;
            object.labels.get_or_insert_with(Vec::new).extend(values);
        }
        self
    }
    /// Where it goes.
    pub fn floor(mut self, value: impl Into<Floor>) -> Self {
        let value = value.into();
        let object = &mut self.draft.extras;
        object.floor = Some(value);
        self
    }
    /// What was agreed.
    pub fn terms(mut self, value: crate::episode::Fields) -> Self {
        let value = value.into_map();
        let object = &mut self.draft.extras;
        object.terms = Some(value);
        self
    }
    /// Anything besides.
    pub fn note(mut self, value: Option<String>) -> Self {
        let object = &mut self.draft.extras;
        object.note = Some(value);
        self
    }
    /// Whether it may break.
    pub fn fragile(mut self, value: bool) -> Self {
        let object = &mut self.draft.extras;
        object.fragile = Some(value);
        self
    }
}

/// Members of `Parcel` that no rule reads, until it is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParcelExtras {
    pub(super) r#type: Option<String>,
    pub(super) labels: Option<Vec<Label>>,
    pub(super) floor: Option<Floor>,
    pub(super) terms: Option<
        ::omen_types::serde_json::Map<String, ::omen_types::serde_json::Value>,
    >,
    pub(super) note: Option<Option<String>>,
    pub(super) fragile: Option<bool>,
}

impl ParcelExtras {
    #[allow(dead_code, reason = "only some objects are taken out of a payload")]
    pub(crate) fn copied_from(object: &Parcel) -> Self {
        Self {
            r#type: object.r#type.clone(),
            labels: object.labels.clone(),
            floor: object.floor.clone(),
            terms: object.terms.clone(),
            note: object.note.clone(),
            fragile: object.fragile.clone(),
        }
    }
    pub(crate) fn fill(self, object: &mut Parcel) {
        let Self { r#type, labels, floor, terms, note, fragile } = self;
        object.r#type = r#type;
        object.labels = labels;
        object.floor = floor;
        object.terms = terms;
        object.note = note;
        object.fragile = fragile;
    }
}
