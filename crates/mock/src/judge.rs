//! The scripted judge: it knows a judge request by its markers and gives the class word for the judged text.

use regex::Regex;

use crate::error::MockError;
use crate::request::{Form, Purpose, Request};
use crate::script::Script;
use crate::summarizer::compile;

pub(crate) struct Judge {
    markers: Vec<Regex>,
    verdicts: Vec<(Regex, String)>,
}

impl Judge {
    pub(crate) fn new(script: &Script) -> Result<Self, MockError> {
        let judge = &script.judge;
        let markers =
            judge.markers.iter().map(|pattern| compile("judge.markers", pattern)).collect::<Result<_, _>>()?;
        let verdicts = judge
            .verdicts
            .iter()
            .map(|verdict| Ok((compile("judge.verdicts", &verdict.pattern)?, verdict.word.clone())))
            .collect::<Result<_, MockError>>()?;
        Ok(Self { markers, verdicts })
    }

    /// What the request is for. A judge's request has no history, so that typed turns that happen to hold the
    /// markers stay a summarizer's.
    pub(crate) fn purpose(&self, request: &Request<'_>) -> Purpose {
        let marked = |marker: &Regex| request.texts.iter().any(|text| marker.is_match(text.text));
        match request.form != Form::Typed && !self.markers.is_empty() && self.markers.iter().all(marked) {
            true => Purpose::Judge,
            false => Purpose::Summarize,
        }
    }

    /// The reply's text.
    pub(crate) fn answer(&self, script: &Script, request: &Request<'_>) -> String {
        let judged = judged_text(request, &script.judge.summary_line);
        let word = self
            .verdicts
            .iter()
            .find(|(pattern, _)| pattern.is_match(judged))
            .map_or(script.judge.otherwise.as_str(), |(_, word)| word.as_str());
        script.judge.reply.replace("{word}", word)
    }
}

/// What stands after the last line that begins with `start`, in the newest text that has one; else the newest text.
fn judged_text<'a>(request: &Request<'a>, start: &str) -> &'a str {
    let after = |text: &'a str| {
        let mut end = text.len();
        for line in text.split_inclusive('\n').rev() {
            if line.starts_with(start) {
                return Some(&text[end..]);
            }
            end -= line.len();
        }
        None
    };
    let newest = request.texts.last().map_or("", |text| text.text);
    request.texts.iter().rev().find_map(|text| after(text.text)).unwrap_or(newest)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Judge;
    use crate::request::{Purpose, Request};
    use crate::route::Route;
    use crate::script::{JudgeScript, Script, Verdict};

    fn judge_request(summary: &str) -> Value {
        let text =
            format!("STATEMENT\n<<<\nThe user gave standing approval to run x\n>>>\nSUMMARY\n<<<\n{summary}\n>>>");
        json!({"model": "m", "messages": [
            {"role": "system", "content": "Say how the SUMMARY treats the STATEMENT."}, {"role": "user", "content": text}]})
    }

    fn chat(body: &Value) -> Request<'_> {
        Request::of(body, Route::Chat, None)
    }

    fn answer(script: &Script, body: &Value) -> String {
        Judge::new(script).unwrap().answer(script, &chat(body))
    }

    #[test]
    fn only_what_follows_the_last_summary_line_is_judged() {
        let script = Script::default();
        assert_eq!(answer(&script, &judge_request("- The user gave standing approval to run x")), "USER");
        assert_eq!(answer(&script, &judge_request("nothing")), "ABSENT");
    }

    #[test]
    fn words_patterns_and_the_reply_around_them_come_from_the_script() {
        let verdicts = vec![
            Verdict { pattern: "claimed".to_owned(), word: "flagged".to_owned() },
            Verdict { pattern: "approval".to_owned(), word: "user".to_owned() },
        ];
        let judge = JudgeScript { verdicts, reply: "verdict: {word}".to_owned(), ..JudgeScript::default() };
        let script = Script::default().judge(judge);
        assert_eq!(answer(&script, &judge_request("a tool claimed approval")), "verdict: flagged");
        assert_eq!(answer(&script, &judge_request("with approval")), "verdict: user");
    }

    #[test]
    fn a_judge_is_known_by_its_markers_and_by_having_no_history() {
        let judge = Judge::new(&Script::default()).unwrap();
        let mut body = judge_request("x");
        assert_eq!(judge.purpose(&chat(&body)), Purpose::Judge);
        body["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": "x"}));
        assert_eq!(judge.purpose(&chat(&body)), Purpose::Summarize);
        let other = json!({"model": "m", "messages": [{"role": "user", "content": "PREVIOUS SUMMARY: x"}]});
        assert_eq!(judge.purpose(&chat(&other)), Purpose::Summarize);
    }
}
