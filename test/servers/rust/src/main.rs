//! A server that is not Touchstone's, in Rust: notes by name, over standard input and output or, with the argument "http", over
//! streamable HTTP on a free port of 127.0.0.1, whose address is the first line of its standard error.
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Note {
    name: String,
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

#[derive(Clone, Default)]
struct Notes {
    held: Arc<Mutex<HashMap<String, String>>>,
}

#[tool_router]
impl Notes {
    #[tool(description = "Write a note.")]
    fn write_note(&self, Parameters(Note { name, text }): Parameters<Note>) -> String {
        let said = format!("Wrote {} characters to {}.", text.chars().count(), name);
        self.held.lock().unwrap().insert(name, text);
        said
    }

    #[tool(description = "Read a note.")]
    fn read_note(&self, Parameters(Name { name }): Parameters<Name>) -> Result<String, ErrorData> {
        let held = self.held.lock().unwrap();
        let missing = || ErrorData::invalid_params("no note of that name", None);
        held.get(&name).cloned().ok_or_else(missing)
    }
}

#[tool_handler]
impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let notes = Notes::default();
    if std::env::args().nth(1).as_deref() != Some("http") {
        notes.serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("http://{}/mcp", listener.local_addr()?);
    let service = StreamableHttpService::new(
        move || Ok(notes.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
