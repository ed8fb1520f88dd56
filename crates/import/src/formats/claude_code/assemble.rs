//! From lines to turns: the pieces of one reply become one turn, where its first piece stands.

use std::collections::HashMap;

use laundromat_session::{Part, Role, Source, Turn};

use super::line::{CallResult, Line, Piece, Talk};
use crate::content::{push_reasoning, push_text};
use crate::losses::Losses;
use crate::order::results_after_calls;

/// The turns of `lines`, read from `file`.
pub(super) fn assemble(lines: Vec<Line>, file: &str, losses: &mut Losses) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::with_capacity(lines.len());
    let mut replies: HashMap<String, usize> = HashMap::new();
    for line in lines {
        let blank = Turn {
            parts: Vec::new(),
            ts: line.ts,
            source: Some(Source { file: file.to_owned(), record: line.record }),
            ..Turn::text_of(Role::User, "")
        };
        match line.talk {
            Talk::User { results, said } => {
                turns.extend(results.into_iter().map(|result| result_turn(result, &blank)));
                if let Some(said) = said {
                    turns.push(Turn { parts: said.parts, synthetic: said.synthetic, ..blank });
                }
            }
            Talk::Assistant(mut piece) => {
                let results = std::mem::take(&mut piece.results);
                let reply = piece.reply.take();
                match reply.as_ref().and_then(|reply| replies.get(reply)) {
                    Some(index) => join(&mut turns[*index], piece, line.record, losses),
                    None => {
                        if let Some(reply) = reply {
                            replies.insert(reply, turns.len());
                        }
                        turns.push(Turn {
                            role: Role::Assistant,
                            parts: piece.parts,
                            calls: piece.calls,
                            reasoning: piece.reasoning,
                            synthetic: piece.synthetic,
                            ..blank.clone()
                        });
                    }
                }
                turns.extend(results.into_iter().map(|result| result_turn(result, &blank)));
            }
            Talk::Boundary { kind, text } => {
                turns.push(Turn {
                    role: Role::Marker(kind),
                    parts: text.map(Part::Text).into_iter().collect(),
                    ..blank
                });
            }
        }
    }
    results_after_calls(turns, losses)
}

fn result_turn(result: CallResult, blank: &Turn) -> Turn {
    Turn { role: Role::Tool, parts: result.parts, call_id: result.call_id, is_error: result.is_error, ..blank.clone() }
}

/// Adds a piece to the turn of its reply. A call that the turn has already was written twice.
fn join(turn: &mut Turn, piece: Piece, record: usize, losses: &mut Losses) {
    for part in piece.parts {
        match part {
            Part::Text(text) => push_text(&mut turn.parts, text.into()),
            other => turn.parts.push(other),
        }
    }
    for call in piece.calls {
        if turn.calls.contains(&call) && !call.id.is_empty() {
            losses.duplicates.add(record);
        } else {
            turn.calls.push(call);
        }
    }
    if let Some(text) = piece.reasoning {
        push_reasoning(&mut turn.reasoning, text.into());
    }
}
