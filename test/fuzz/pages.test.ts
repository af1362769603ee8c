/** Requests to pages, drawn by chance: their addresses, queries and forms. FUZZ_SEED repeats a run, FUZZ_REQUESTS says how many are sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '../../src/areas/index.ts';
import { pages } from '../../src/areas/pages.ts';
import { startSession } from '../../src/areas/people/sessions/actions.ts';
import { oddSegments, oddTexts } from '../support/odd_values.ts';
import { type Random, randomFrom, seedOfToday } from '../support/random.ts';
import { type RawRequest, sendRaw } from '../support/raw_request.ts';
import { runs } from '../support/runs.ts';
import { type ShownWorld, showAll } from '../support/shown_world.ts';
import { world } from '../support/world.ts';
import { furnishWithSecrets, marks } from './targets.ts';

const seed = Number(process.env.FUZZ_SEED ?? seedOfToday());
const total = Number(process.env.FUZZ_REQUESTS ?? runs(400, 10_000));
const callers = ['admin', 'owner', 'owner', 'outsider', 'anonymous'] as const;

/** What pages are asked with, and what no page knows. */
const queryNames =
  'page cursor search state sort labels author_username milestone draft since until author edit at file diff_id start_sha plain version title namespace_id parent_id path to kept sent issue[title] merge_request[source_branch] merge_request[target_branch] merge_request[target_project_id] all requested __proto__ x'.split(
    ' ',
  );

/** The names of the fields of a form: the parameters of what it runs, and what some forms have besides. */
const byOperation = new Map(endpoints.map((endpoint) => [endpoint.operation, endpoint]));
const own = '_key clear[] null[] login password to kept email theme session_id name scopes[] expires_at from'.split(
  ' ',
);

function fieldNames(runs: string | undefined): string[] {
  const { path = '', input = {} } = (runs === undefined ? undefined : byOperation.get(runs)) ?? {};
  return [...own, ...Object.keys(input), ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)];
}

const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

/** An odd text, or something that could be meant. */
const drawnValue = (random: Random): string =>
  encode(
    random.happens(50)
      ? random.of(oddTexts)
      : random.of([
          '1',
          '2',
          'main',
          'true',
          '2030-01-01',
          'x',
          '{"form":"change","values":{"a":{}}}',
          'a'.repeat(3000),
        ]),
  );

function pairs(random: Random, names: readonly string[], most: number): string {
  const drawn = Array.from({ length: random.below(most + 1) }, () => {
    const name = random.of(names);
    const written = random.happens(10) ? random.of([`${name}[]`, `${name}[a]`, `${name}[a][]`, `${name}[0][b]`]) : name;
    return `${written}=${random.happens(3) ? '%zz' : drawnValue(random)}`;
  });
  return drawn.join('&');
}

/** An address of a page, with some of its parts replaced. */
function addressFrom(known: string, random: Random): string {
  if (random.happens(50)) return known;
  const parts = known.split('/');
  const at = 1 + random.below(Math.max(1, parts.length - 1));
  parts[at] = random.happens(50) ? random.of(oddSegments) : encode(random.of(oddTexts));
  return parts.join('/') || '/';
}

/** A request to a page as a browser would send it, or nearly. */
function drawPage(here: ShownWorld, random: Random): { page: string; request: RawRequest } {
  const page = random.of(pages);
  const query = random.happens(50) ? `?${pairs(random, queryNames, 4)}` : '';
  const path = (addressFrom(here.addresses.get(page.path)!, random) + query).replaceAll(/[^\x21-\x7e]/g, encode);
  const headers = { accept: 'text/html', 'sec-fetch-site': 'same-origin' };
  const forms = 'view' in page ? Object.entries(page.forms ?? {}) : [];
  if (forms.length === 0 || random.happens(40)) return { page: page.path, request: { method: 'GET', path, headers } };
  const [form, declared] = random.of(forms);
  const fields = pairs(random, fieldNames('runs' in declared ? declared.runs : undefined), 8);
  const type = random.happens(5)
    ? random.of(['multipart/form-data; boundary=x', 'text/plain', ''])
    : 'application/x-www-form-urlencoded';
  const body = `_do=${random.happens(3) ? drawnValue(random) : form}&${fields}`;
  return {
    page: `${page.path} ${form}`,
    request: { method: 'POST', path, headers: { ...headers, 'content-type': type }, body },
  };
}

/** A session for each request, since what ends sessions is drawn, too. */
async function cookieOf({ db, people }: ShownWorld, caller: (typeof callers)[number]): Promise<Record<string, string>> {
  if (caller === 'anonymous') return {};
  const device = { address: '127.0.0.1', user_agent: undefined, browser: undefined };
  const value = await startSession(db, { user_id: people[caller].id, methods: ['pwd'], is_remembered: false, device });
  return { cookie: `coppice=${value}` };
}

test(`no request to a page makes the server fail or reveal anything (FUZZ_SEED=${seed} FUZZ_REQUESTS=${total})`, async (t) => {
  const random = randomFrom(seed);
  const here = await showAll(await world({ inspectRefusals: false }));
  const elsewhere = await world();
  await furnishWithSecrets(elsewhere);
  const problems = new Map<string, string>();
  const answered = new Map<string, number>();
  for (let number = 1; number <= total; number++) {
    const caller = random.of(callers);
    const { page, request } = drawPage(here, random);
    const headers = { ...request.headers, ...(await cookieOf(here, caller)) };
    const { status, text } = await sendRaw(here.url, { ...request, headers }, '').catch((error: Error) => ({
      status: 599,
      text: error.message,
    }));
    const outcome = `${request.method} ${Math.floor(status / 100)}xx`;
    answered.set(outcome, (answered.get(outcome) ?? 0) + 1);
    const isShown = caller !== 'admin' && marks.some((mark) => text.includes(mark));
    const problem = status >= 500 ? `answers ${status}` : isShown ? 'shows secrets' : undefined;
    if (problem)
      problems.set(`${page} ${problem}`, `#${number} ${caller} ${request.path} ${request.body ?? ''}`.slice(0, 600));
  }
  t.diagnostic(
    [...answered]
      .toSorted()
      .map(([outcome, count]) => `${outcome}: ${count}`)
      .join(', '),
  );
  assert.deepEqual(Object.fromEntries(problems), {});
  assert.ok(
    (answered.get('GET 2xx') ?? 0) > total / 10 && (answered.get('POST 3xx') ?? 0) >= Math.floor(total / 1_000),
  );
});
