/**
 * Matches texts in a thread of its own: RE2 takes linear time, but for a long text and a large expression that can be seconds, in which the
 * main thread must serve others.
 */
import { Worker } from 'node:worker_threads';
import { programFile } from '../foundation/installation.ts';

export interface Expression {
  /** In RE2 syntax, which has neither lookaround nor backreferences. */
  source: string;
  ignores_case?: boolean;
  /** Whether `^` and `$` also match at line ends; `(?-m)` in the expression turns it off. */
  multiline?: boolean;
}

/** The named groups of the first match; undefined for a text that does not match. */
export type Match = Readonly<Record<string, string>> | undefined;

/** A request to the thread: match texts, or only compile when there are none. */
export interface ToMatcher {
  id: number;
  expression: Expression;
  texts: readonly string[];
  budget_ms: number;
}

/** The thread begins a slice of a call, or answers it. */
export type FromMatcher =
  | { id: number; turn: true }
  | { id: number; matches: Match[]; spent_ms: number }
  | { id: number; invalid: string }
  | { id: number; late: true };

/** The text is not an expression in RE2 syntax, or is too large. */
export class InvalidExpression extends Error {
  override name = 'InvalidExpression';
  /** For people, e.g. "missing closing ): `(a`". */
  readonly reason: string;

  constructor(reason: string) {
    super(`invalid expression: ${reason}`);
    this.reason = reason;
  }
}

/** Matching exceeded its time budget, or the memory limit of the thread. */
export class MatchingTimeout extends Error {
  override name = 'MatchingTimeout';
}

/** The amount that is sent to the thread at once, so that copying it takes no longer than a few milliseconds. */
const maximumTexts = 5_000;
const maximum_chars = 1_048_576;

/** The thread keeps compiled expressions and the states of their automata, so an idle one is ended after this time. */
const idle_ms = 30_000;
const heap_mib = 256;
const check_ms = 1_000;

interface Call {
  request: ToMatcher;
  answer: PromiseWithResolvers<{ matches: Match[]; spent_ms: number }>;
}

const calls = new Map<number, Call>();
let lastId = 0;
let thread: Worker | undefined;
/** The message that started the current slice of the thread. */
let slice: FromMatcher | undefined;
let watch: NodeJS.Timeout | undefined;
let idle: NodeJS.Timeout | undefined;

function start(): void {
  const started = new Worker(programFile('expressions/matching_worker'), {
    resourceLimits: { maxOldGenerationSizeMb: heap_mib },
  });
  started.on('message', (message: FromMatcher) => {
    if (thread === started) receive(started, message);
  });
  started.on('error', (error) => replace(started, isOutOfMemory(error) ? tooLate() : error));
  started.on('exit', () => replace(started, new Error('The thread that matches expressions ended.')));
  thread = started;
  slice = undefined;
  for (const { request } of calls.values()) started.postMessage(request);
}

const isOutOfMemory = (error: Error) => 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';

/** Ends a thread. Its current call fails; the other calls move to a new thread. If no call was running, the thread could not start, and all calls fail. */
function replace(ended: Worker, error: Error): void {
  if (thread !== ended) return;
  thread = undefined;
  clearTimeout(watch);
  void ended.terminate();
  const failed = slice ? [slice.id] : [...calls.keys()];
  for (const id of failed) {
    calls.get(id)?.answer.reject(error);
    calls.delete(id);
  }
  if (calls.size > 0) start();
}

function receive(from: Worker, message: FromMatcher): void {
  clearTimeout(watch);
  const call = calls.get(message.id);
  if ('turn' in message) {
    slice = message;
    // Messages of the thread that are queued are read before the second step, in case this thread was the busy one.
    watch = setTimeout(() => setImmediate(giveUp, from, message), call?.request.budget_ms);
    return;
  }
  slice = undefined;
  calls.delete(message.id);
  if ('matches' in message) call?.answer.resolve(message);
  else call?.answer.reject('invalid' in message ? new InvalidExpression(message.invalid) : tooLate());
  if (calls.size === 0) rest(from);
}

/** Ends a thread that is still in the same slice: it checks the time between texts, so it is stuck in one of them. */
function giveUp(stuck: Worker, began: FromMatcher): void {
  if (slice === began) replace(stuck, tooLate());
}

const tooLate = () => new MatchingTimeout('Matching took longer than its budget.');

function rest(resting: Worker): void {
  resting.unref();
  idle = setTimeout(() => {
    if (thread === resting) thread = undefined;
    void resting.terminate();
  }, idle_ms).unref();
}

function ask(request: Omit<ToMatcher, 'id'>): Promise<{ matches: Match[]; spent_ms: number }> {
  const call: Call = { request: { id: ++lastId, ...request }, answer: Promise.withResolvers() };
  calls.set(call.request.id, call);
  clearTimeout(idle);
  if (thread) {
    // The process must not exit while a call waits.
    thread.ref();
    thread.postMessage(call.request);
  } else start();
  return call.answer.promise;
}

/** The texts from an index on that are sent together: at least one. */
function portionFrom(texts: readonly string[], at: number): readonly string[] {
  let end = at + 1;
  for (let chars = texts[at]?.length ?? 0; end < texts.length && end - at < maximumTexts; end++) {
    chars += texts[end]!.length;
    if (chars > maximum_chars) break;
  }
  return texts.slice(at, end);
}

/**
 * The first match of an expression in each text.
 * @param texts of at most a few MiB each; without any, the expression is compiled only
 * @param budget_ms how long the thread may compute for this call, without the time in which it serves others
 * @throws InvalidExpression with the reason, MatchingTimeout
 */
export async function matchGroups(
  expression: Expression,
  texts: readonly string[],
  budget_ms: number,
): Promise<Match[]> {
  const found: Match[] = [];
  let left_ms = budget_ms;
  do {
    if (left_ms <= 0) throw tooLate();
    const portion = portionFrom(texts, found.length);
    const { matches, spent_ms } = await ask({ expression, texts: portion, budget_ms: left_ms });
    for (const match of matches) found.push(match);
    left_ms -= spent_ms;
  } while (found.length < texts.length);
  return found;
}

/**
 * Which of the texts an expression matches, anywhere in them.
 * @param texts, budget_ms as for `matchGroups`
 * @throws InvalidExpression with the reason, MatchingTimeout
 */
export const matchEach = async (
  expression: Expression,
  texts: readonly string[],
  budget_ms: number,
): Promise<boolean[]> => (await matchGroups(expression, texts, budget_ms)).map((match) => match !== undefined);

/**
 * Compiles an expression.
 * @throws InvalidExpression with the reason, also when it is too large
 */
export async function checkExpression(expression: Expression): Promise<void> {
  try {
    await matchEach(expression, [], check_ms);
  } catch (error) {
    throw error instanceof MatchingTimeout ? new InvalidExpression('expression too large') : error;
  }
}
