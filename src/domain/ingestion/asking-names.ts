/**
 * Whether the name of a route, or of an event, says that it is one of questions. Nothing else tells it where no model's span arrives,
 * and a name that may be anything is not proposed as a rule: what a rule counted wrongly stays counted.
 */
import { STEP_ROUTE } from '../queries/telemetry-rules.js';

/** What the last segment of a route consists of: at least one of these, also in German, Spanish, Portuguese, Italian, French or Japanese … */
const ASKS = new RegExp(
  [
    '^(ask|chat|questions?|query|prompt|answers?|assistant|agent|copilot|copilotkit|chatbot|rag|ai',
    'fragen?|preguntas?|preguntar|perguntas?|perguntar|domand[ae]|chiedi|demander|質問|質問する)$',
  ].join('|'),
);
/** … and else only these. */
const BESIDE = new RegExp(
  [
    '^(api|v\\d+|docs?|documentation|site|web|help|support|user|public|my|the|an?|llm|gpt|stream(ing)?',
    'stellen|eine|hacer|fazer|fare|fai|poser|un[ae]?|uma?|la)$',
  ].join('|'),
);
/** These, too, in a route that has nothing besides: elsewhere they mean calls of models, tickets and what people say. */
const ALSO_ASKS = /^(talk|completion|support)$/;

/** Segments that may follow, and say how the answer comes. */
const TAIL = /^(stream(ing)?|sse|invoke|run|send|route|generate|messages?|wait|stream-(log|events)|v\d+)$/;

/** Where messages are sent to, as in `/conversations/{id}/messages`. */
const CONVERSATION = /^(conversations?|chats)$/;

/** LangGraph's server. */
const RUNS = /(^|\/)runs\/(stream|wait)$/;

/** Segments of routes that other programs call, or that work on data. */
const OTHER = new RegExp(
  [
    '^(_.*|\\..*|actuator|admin|auth|internal|debug|health|metrics|logs?|analytics|prometheus|loki|telemetry|db|database|sql|tests?',
    'vectors?|vectorstores?|collections|index(es)?|indices|graphql|mcp|webhooks?|hooks?|callbacks?|cron|jobs?|tasks?|queues?|workers?',
    'evals?|evaluat(e|ions?)|titles?|suggest(ions?|ed)?|related|feedback|batch(es)?|drafts?|previews?|templates?|library)$',
  ].join('|'),
);

/** A segment for one part of a path. What takes any path, such as `/{path:path}` and `/:any+`, is a route of anything. */
const PARAMETER = /^(:[\w-]+(\(\.:format\))?|\{[\w-]+(:[\w-]+)?\}|<(\w+:)?\w+>|\[[\w-]+\])$/;
const ANY_PATH = /[*+?\\,;]|\.\.\.|:path\b|<path:|\(\?P/i;

export function isAskingRoute(route: string): boolean {
  // Go's patterns begin with the method and may have a host, Django's may be regular expressions, and Rails' end in a format.
  const path = route
    .replace(/^[A-Z]+ +[^/]*/, '')
    .replace(/^\^|\$$/g, '')
    .replace(/\(\.:format\)$/, '');
  if (ANY_PATH.test(path) || STEP_ROUTE.test(path)) return false;
  if (RUNS.test(path)) return true;
  const parts = path.split('/').filter((part) => part !== '');
  const fixed = parts.filter((part) => !PARAMETER.test(part)).map(wordsOf);
  if (fixed.some(([first = '', ...rest]) => rest.length === 0 && OTHER.test(first))) return false;
  if (parts.length === fixed.length && isShort(fixed)) return true;
  const tail = fixed.toReversed().findIndex((words) => !TAIL.test(words.join('-')));
  const last = fixed.at(-1 - tail) ?? [];
  if (tail < 0 || !last.every((word) => ASKS.test(word) || BESIDE.test(word) || CONVERSATION.test(word)))
    return false;
  const takesMessages = fixed.slice(fixed.length - tail).some(([first = '']) => first.startsWith('message'));
  return last.some((word) => ASKS.test(word) || (takesMessages && CONVERSATION.test(word)));
}

/** Whether it is `/api/completion`, `/v1/talk` or the like. */
function isShort(segments: readonly (readonly string[])[]): boolean {
  const words = segments.map((one) => one.join('-'));
  const last = TAIL.test(words.at(-1) ?? '') ? words.at(-2) : words.at(-1);
  return (
    ALSO_ASKS.test(last ?? '') &&
    words.every((word) => ALSO_ASKS.test(word) || BESIDE.test(word) || TAIL.test(word))
  );
}

/** In lower case: `askDocs` and `ask-docs` have two. */
function wordsOf(text: string): string[] {
  const separate = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return /^[._]/.test(separate)
    ? [separate]
    : separate.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => word !== '');
}

/** The last word of the name of an event that an application logs for each question … */
const ASKED = /^(question|ask|asked)$/;
/** … or these, after a word that says whose they are, or alone … */
const ASKED_BY = /^(prompt|query)$/;
const WHOSE = /^(user|docs?|documentation|assistant|chat|chatbot|ai|rag|question)$/;
/** … before a word that says what became of it. */
const DONE = /^(received|submitted|answered)$/;
/** What is not asked, or not by a reader. */
const NOT_ASKED =
  /^(suggest(ed|ion|ions)?|related|follow|followup|next|system|eval|evaluation|test|template|slow|db|sql|search|graphql)$/;

export function isAskingEvent(event: string): boolean {
  const all = wordsOf(event);
  const words = DONE.test(all.at(-1) ?? '') ? all.slice(0, -1) : all;
  const [last = '', before] = words.toReversed();
  if (words.some((word) => NOT_ASKED.test(word))) return false;
  return ASKED.test(last) || (ASKED_BY.test(last) && (before === undefined || WHOSE.test(before)));
}
