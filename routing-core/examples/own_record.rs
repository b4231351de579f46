//! An orchestrator's own routing record: three nodes, one answer, and no way to go anywhere else.

use interrupt_router::{AgentType, InterruptRoutes, Route, RouteSet, Routing};
use interrupt_router::{answer::read_narrowed, answer::read_within, model::Dialect};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum Desk {
    Writer,
    Editor,
    Publisher,
}

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Article {
    title: String,
}

/// Where an article goes after an interrupt.
#[derive(Debug, Clone, Routing)]
#[routing(agent_types = Desk, actions = Newsroom)]
struct AfterInterrupt {
    /// Write it again.
    #[route(marker = WriterRoute, agent_type = Writer)]
    rewrite: Option<Article>,
    /// Edit what is there.
    #[route(marker = EditorRoute, agent_type = Editor)]
    edit: Option<Article>,
    /// Publish it.
    #[route(marker = PublisherRoute, agent_type = Publisher)]
    publish: Option<Article>,
}

struct Desks;
// If you leave one of these out, the program does not compile.
impl Newsroom<()> for Desks {
    type Output = String;
    type Error = std::convert::Infallible;
    async fn rewrite(&self, article: Article, (): &()) -> Result<String, Self::Error> {
        Ok(format!("the writer rewrites `{}`", article.title))
    }
    async fn edit(&self, article: Article, (): &()) -> Result<String, Self::Error> {
        Ok(format!("the editor edits `{}`", article.title))
    }
    async fn publish(&self, article: Article, (): &()) -> Result<String, Self::Error> {
        Ok(format!("`{}` is out", article.title))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The editor was interrupted, so this schema is all that its model is shown.
    println!("{}", EditorRoute::schema(Dialect::OpenAiStrict).text());
    let answer = read_narrowed::<EditorRoute>(br#"{"edit": {"title": "Figures"}}"#)?;
    println!("{}", answer.into_routing().dispatch(&Desks, &()).await?);
    let only = RouteSet::only(AfterInterrupt::route_to(Desk::Editor));
    let refused = read_within::<AfterInterrupt>(br#"{"publish": {"title": "Figures"}}"#, only);
    println!("refused: {}", refused.expect_err("no route here"));
    Ok(())
}
