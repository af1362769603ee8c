/**
 * Requests drawn by chance. FUZZ_SEED repeats a run, FUZZ_REQUESTS says how many are sent; `npm run fuzz` sends 50,000.
 * A failure names the request by its number: with the same seed it is the same request. FUZZ_BYSTANDER=true, as `npm run fuzz` has it, also fails on
 * requests that keep others waiting; that needs a machine with nothing else to do.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { documented } from '../../src/areas/index.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { type Random, randomFrom, seedOfToday } from '../support/random.ts';
import { type RawAnswer, type RawRequest, sendRaw } from '../support/raw_request.ts';
import { headOf, rawSocket } from '../support/raw_socket.ts';
import { runs } from '../support/runs.ts';
import { type World, world } from '../support/world.ts';
import { quietDelay_ms, watched } from './bystander.ts';
import { type Document, drawRequest, operationsOf } from './requests.ts';
import { furnish, furnishWithSecrets, marks, type Names, viewOf } from './targets.ts';

const seed = Number(process.env.FUZZ_SEED ?? seedOfToday());
const total = Number(process.env.FUZZ_REQUESTS ?? runs(1000, 20_000));
/** Owners and administrators destroy their world where they may; a new one keeps the requests from meeting only ruins. */
const perWorld = 250;
const shownProblems = 30;
/** How much longer than on a quiet server others may wait for one request. */
const mostDelay_ms = process.env.FUZZ_BYSTANDER === undefined ? Number.POSITIVE_INFINITY : 50;

const callers = ['admin', 'owner', 'owner', 'outsider', 'anonymous'] as const;
type CallerName = (typeof callers)[number];

/** It would switch on the limits of requests for the whole server, whose refusals would be all that is left to see. */
const leftOut = 'PUT /application/settings';

/** What is wrong with an answer, as a sentence without what is particular to the request; undefined when nothing is. */
function problemOf(caller: CallerName, { method }: RawRequest, { status, text }: RawAnswer): string | undefined {
  if (status >= 500) return `answers ${status}`;
  if (caller !== 'admin' && marks.some((mark) => text.includes(mark))) return `shows ${caller} the secrets of others`;
  if (status < 400 || method === 'HEAD') return undefined;
  try {
    if ('message' in JSON.parse(text)) return undefined;
  } catch {
    // Said below.
  }
  return `answers ${status} without a message in JSON`;
}

const shown = ({ path, headers, body = '' }: RawRequest) =>
  `${path.slice(0, 300)} ${JSON.stringify(headers).replace(/"private-token":"[^"]*",?/, '')} ${body.slice(0, 600)}`;

/** Sends the beginning of a request, and breaks off. */
async function breakOff(
  url: string,
  { method, path, headers = {}, body = '' }: RawRequest,
  random: Random,
): Promise<void> {
  const socket = await rawSocket(url);
  const length = { 'content-length': Buffer.byteLength(body) };
  const text = headOf(method, `/api/v4${path}`, { ...headers, ...length }) + body;
  const isSent = Promise.withResolvers<void>();
  socket.write(text.slice(0, random.below(text.length)), () => isSent.resolve());
  await isSent.promise;
  socket.destroy();
}

async function answerTo(url: string, request: RawRequest): Promise<RawAnswer> {
  return sendRaw(url, request).catch((error: Error) => ({ status: 599, text: error.message }));
}

/** The resources that a caller names. An administrator may do everything, so they only get resources that may be destroyed. */
const namesFor = (caller: CallerName, here: Names, elsewhere: Names): Names[] =>
  caller === 'admin' ? [here] : [here, elsewhere, elsewhere];

const tokenOf = (caller: CallerName, { people }: World): Record<string, string> =>
  caller === 'anonymous' ? {} : { 'private-token': people[caller].token };

test(`no request makes the server fail or reveal anything (FUZZ_SEED=${seed} FUZZ_REQUESTS=${total})`, async (t) => {
  const operations = operationsOf(JSON.parse(JSON.stringify(openApiDocument(documented))) as Document).filter(
    ({ method, path }) => `${method} ${path}` !== leftOut,
  );
  const random = randomFrom(seed);
  const problems = new Map<string, string>();
  const answered = new Map<string, number>();
  let slowest = { delay_ms: 0, path: '' };
  // The first ids are the easiest to guess, so they must not belong to secrets.
  let here = await world({ inspectRefusals: false });
  let names = await furnish(here, 'open');
  // An administrator may legitimately change resources with guessed ids.
  for (const table of ['namespaces', 'projects', 'issues', 'epics'])
    await sql`select setval(pg_get_serial_sequence(${table}, 'id'), 7531902)`.execute(here.db);
  const elsewhere = await world();
  const secrets = await furnishWithSecrets(elsewhere);
  const before = await viewOf(elsewhere);
  const allowed_ms = (await quietDelay_ms(() => here.as('owner').get(`/projects/${here.project.id}`))) + mostDelay_ms;

  for (let number = 1; number <= total; number++) {
    if (number % perWorld === 0) {
      here = await world();
      names = await furnish(here, 'open');
    }
    const caller = random.of(callers);
    const documented = random.of(operations);
    // A user who becomes an administrator may see everything.
    const draw = { random, names: namesFor(caller, names, secrets), without: ['admin'] };
    const drawn = drawRequest(documented, draw);
    const request = { ...drawn, headers: { ...drawn.headers, ...tokenOf(caller, here) } };
    if (random.happens(2)) await breakOff(here.url, request, random);
    const { answer, delay_ms } = await watched(() => answerTo(here.url, request), allowed_ms);
    const outcome = `${caller} ${Math.floor(answer.status / 100)}xx`;
    answered.set(outcome, (answered.get(outcome) ?? 0) + 1);
    if (delay_ms > slowest.delay_ms) slowest = { delay_ms, path: `${documented.method} ${documented.path}` };
    const problem = problemOf(caller, request, answer) ?? (delay_ms > allowed_ms ? 'keeps others waiting' : undefined);
    const key = `${documented.method} ${documented.path} ${problem}`;
    if (problem && !problems.has(key))
      problems.set(
        key,
        `#${number} ${caller}: ${shown(request)}\n    ${answer.text.slice(0, 300)} (${Math.round(delay_ms)} ms)`,
      );
  }

  t.diagnostic(
    [...answered]
      .toSorted()
      .map(([outcome, count]) => `${outcome}: ${count}`)
      .join(', '),
  );
  t.diagnostic(`others waited at most ${Math.round(slowest.delay_ms)} ms, for ${slowest.path}`);
  const said = [...problems].slice(0, shownProblems).map(([what, example]) => `${what}\n  ${example}`);
  assert.equal(problems.size, 0, `${problems.size} problems\n${said.join('\n')}`);
  assert.deepEqual(await viewOf(elsewhere), before, 'strangers have changed what is not theirs');
  assert.ok((answered.get('owner 2xx') ?? 0) > total / 100, 'the requests hit nothing that answers');
});
