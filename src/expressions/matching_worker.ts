/** The thread that `matching.ts` starts. Calls take turns, so that a long call delays others by at most a slice or a text. */
import { parentPort } from 'node:worker_threads';
import type { RE2JS } from 're2js';
import { compiled } from './compiling.ts';
import { type FromMatcher, InvalidExpression, type Match, type ToMatcher } from './matching.ts';

const slice_ms = 10;

interface Task extends ToMatcher {
  matches: Match[];
  spent_ms: number;
}

const tasks: Task[] = [];

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
    if (error instanceof InvalidExpression) return { id, invalid: error.reason };
    throw error;
  }
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
