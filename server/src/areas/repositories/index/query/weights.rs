//! The weights of searches.

/// What counts how much in a search. The defaults were fitted to questions about the functions of
/// some libraries; they are not settings of the service.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// How soon further occurrences of a word count less, as `k1` of BM25.
    pub saturation: f32,
    /// How much a long text counts less, as `b` of BM25.
    pub body_length: f32,
    /// The same for the documentation.
    pub doc_length: f32,
    /// What a word in the name of the symbol is worth, beside one that fills the text.
    pub name: f32,
    /// What words like `from` are worth in names, times that.
    pub name_word: f32,
    /// What a word in the name of what contains the symbol is worth in the same way.
    pub container_name: f32,
    /// How much less words count that code seldom contains.
    pub reliability: f32,
    /// Occurrences in the text that one in the name of what contains the symbol is worth.
    pub container: f32,
    /// The same for the path.
    pub path: f32,
    /// The same for parameters and types.
    pub signature: f32,
    /// The same for the documentation.
    pub doc: f32,
    /// What synonyms are worth in names, times their probability.
    pub synonym: f32,
    /// What synonyms are worth in types, times their probability.
    pub type_synonym: f32,
    /// What two words of the question are worth that are one identifier in the code.
    pub pair: f32,
    /// How much more a chunk is worth that contains all words of the question.
    pub coverage: f32,
    /// How much more a symbol is worth all words of whose name are asked for.
    pub name_share: f32,
    /// How much more a symbol is worth for each doubling of the files that use it.
    pub uses: f32,
    /// How much more a chunk is worth for each doubling of the rank of its file.
    pub rank: f32,
    /// How much more a public symbol is worth.
    pub public: f32,
    /// Factors of the score: of tests, unless they are asked for,
    pub test: f32,
    /// of further pieces of a symbol,
    pub later_piece: f32,
    /// of types,
    pub types: f32,
    /// of what is no symbol,
    pub no_symbol: f32,
    /// of what has the name of a better hit,
    pub same_name: f32,
    /// and of what is nearly equal to one.
    pub duplicate: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            saturation: 1.2,
            body_length: 0.6,
            doc_length: 0.55,
            name: 0.47,
            name_word: 0.5,
            container_name: 0.47,
            reliability: 1.6,
            container: 3.5,
            path: 0.7,
            signature: 1.5,
            doc: 1.0,
            synonym: 4.0,
            type_synonym: 0.6,
            pair: 0.55,
            coverage: 0.75,
            name_share: 0.5,
            uses: 0.01,
            rank: 0.026,
            public: 0.075,
            test: 0.3,
            later_piece: 0.4,
            types: 0.35,
            no_symbol: 0.45,
            same_name: 0.9,
            duplicate: 0.8,
        }
    }
}
