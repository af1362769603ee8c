/** The thread that `matching.ts` starts. Calls take turns, so that a long call delays others by at most a slice or a text. */
import { parentPort } from 'node:worker_threads';
import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import type { Expression, FromMatcher, Match, ToMatcher } from './matching.ts';

const slice_ms = 10;
/** Ten times the size that `.{1,500}` needs. A text of n characters takes at most n times as many steps. */
const maximumProgram = 10_000;
const maximumKept = 50;

interface Task extends ToMatcher {
  matches: Match[];
  spent_ms: number;
}

const tasks: Task[] = [];
/** Compiled expressions, least recently used first. */
const kept = new Map<string, RE2JS>();

function compiled({ source, ignores_case = false, multiline = false }: Expression): RE2JS {
  const flags = (ignores_case ? RE2JS.CASE_INSENSITIVE : 0) | (multiline ? RE2JS.MULTILINE : 0);
  const key = `${flags} ${source}`;
  const pattern = kept.get(key) ?? RE2JS.compile(source, flags);
  if (pattern.re2().numberOfInstructions() > maximumProgram) throw new RE2JSSyntaxException('expression too large');
  kept.delete(key);
  kept.set(key, pattern);
  for (const oldest of kept.keys()) {
    if (kept.size <= maximumKept) break;
    kept.delete(oldest);
  }
  return pattern;
}

const withoutNames: Match = {};

function matchIn(pattern: RE2JS, text: string): Match {
  const names = Object.keys(pattern.namedGroups());
  if (names.length === 0) return pattern.test(text) ? withoutNames : undefined;
  const matcher = pattern.matcher(text);
  if (!matcher.find()) return undefined;
  return Object.fromEntries(names.map((name) => [name, matcher.group(name) ?? '']));
}

/** @returns the answer, or undefined when the slice ends first */
function advance(task: Task, until: number): FromMatcher | undefined {
  const { id, expression, texts, matches, budget_ms } = task;
  const from = performance.now();
  const spent_ms = () => task.spent_ms + performance.now() - from;
  try {
    const pattern = compiled(expression);
    while (matches.length < texts.length) {
      matches.push(matchIn(pattern, texts[matches.length]!));
      if (spent_ms() > budget_ms) return { id, late: true };
      if (matches.length < texts.length && performance.now() > until) {
        task.spent_ms = spent_ms();
        return undefined;
      }
    }
    return { id, matches, spent_ms: spent_ms() };
  } catch (error) {
    if (error instanceof RE2JSException) return { id, invalid: reasonOf(error, expression) };
    throw error;
  }
}

/** A message for people, without the prefix that the flags add to the expression. */
function reasonOf(error: RE2JSException, { source }: Expression): string {
  if (!(error instanceof RE2JSSyntaxException)) return error.message;
  const pattern = error.getPattern();
  const where = pattern?.endsWith(source) ? source : pattern;
  return where ? `${error.getDescription()}: \`${where}\`` : error.getDescription();
}

const send = (message: FromMatcher): void => parentPort!.postMessage(message);

function takeTurn(): void {
  const task = tasks.shift()!;
  send({ id: task.id, turn: true });
  const answer = advance(task, performance.now() + slice_ms);
  if (answer) send(answer);
  else tasks.push(task);
  if (tasks.length > 0) setImmediate(takeTurn);
}

parentPort!.on('message', (request: ToMatcher) => {
  tasks.push({ ...request, matches: [], spent_ms: 0 });
  if (tasks.length === 1) setImmediate(takeTurn);
});
