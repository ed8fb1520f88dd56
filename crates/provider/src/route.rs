//! The routes: the wire shapes in which providers take a conversation.

laundromat_session::ids! {
    /// A wire shape of requests and replies.
    Route {
        /// OpenAI Chat Completions and all who copy it.
        ChatCompletions = "chat-completions",
        /// OpenAI Responses, the Codex backend included.
        Responses = "responses",
        /// Anthropic Messages.
        Anthropic = "anthropic",
        /// Gemini `generateContent`.
        Gemini = "gemini",
        /// Bedrock `Converse`.
        BedrockConverse = "bedrock-converse",
    }
}
