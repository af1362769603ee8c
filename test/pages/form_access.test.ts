/** Forms change what the API lets the same people change. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { sql } from 'kysely';
import { endpoints } from '../../src/areas/index.ts';
import { pages } from '../../src/areas/pages.ts';
import type { AnyEndpoint } from '../../src/http/index.ts';
import { callerFor, ruledBy } from '../support/access_table.ts';
import { formsIn, sentBy } from '../support/html_tree.ts';
import { type Browsers, browsersOf, personas, publish } from '../support/page_access.ts';
import { type ShownWorld, shownWorld, valuesFor } from '../support/shown_world.ts';

let here: ShownWorld;
let browsers: Browsers;
before(async () => {
  here = await shownWorld({});
  browsers = await browsersOf(here);
});

/** A form of a page, with what it sends. */
interface Sending {
  page: string;
  address: string;
  form: string;
  fields: Record<string, string[]>;
  /** What it runs, and the parameters in its path; undefined for what only pages do. */
  runs: { endpoint: AnyEndpoint; params: Record<string, string> } | undefined;
  /** Whether everyone may send it. */
  isForAll: boolean;
}

/** What is in the path of an operation, from the page, or from what the form sends. */
function paramsFor({ path }: AnyEndpoint, page: string, fields: Sending['fields']): Record<string, string> {
  const own = valuesFor(here, page);
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  return Object.fromEntries(names.map((name) => [name, fields[name]?.[0] ?? own[name] ?? '0']));
}

const byOperation = new Map(endpoints.map((endpoint) => [endpoint.operation, endpoint]));

/** All forms, filled in as the owner sees them. What the owner does not see now is sent without fields. */
async function allForms(): Promise<Sending[]> {
  const found: Sending[] = [];
  for (const page of pages) {
    if (!('view' in page)) continue;
    const address = here.addresses.get(page.path)!;
    const shown = formsIn((await browsers.get('owner')!.get(address)).html);
    for (const [form, declared] of Object.entries(page.forms ?? {})) {
      const seen = shown.find(({ does }) => does.includes(form));
      const endpoint = 'runs' in declared ? byOperation.get(declared.runs)! : undefined;
      const fields = seen ? sentBy(seen) : {};
      const params = endpoint && paramsFor(endpoint, page.path, fields);
      const inPath = Object.entries(params ?? {}).map(([name, value]) => [name, [value]]);
      const each = 'each' in declared ? declared.each : undefined;
      if (each) inPath.push([`${each.list}[]`, [params![each.as]!]]);
      found.push({
        ...{ page: page.path, address, form, fields: { ...Object.fromEntries(inPath), ...fields } },
        runs: endpoint && { endpoint, params: params! },
        isForAll: 'act' in declared && declared.anonymous === true,
      });
    }
  }
  return found;
}

/** What the rules refuse: the forms, who sends them, and the status. */
async function refusedForms(forms: readonly Sending[]) {
  const refused: { sending: Sending; persona: (typeof personas)[number]; status: number }[] = [];
  for (const sending of forms)
    for (const persona of personas) {
      if (persona === 'anonymous') {
        if (!sending.isForAll) refused.push({ sending, persona, status: 401 });
        continue;
      }
      if (!sending.runs) continue;
      const caller = callerFor(here, here.people[persona], persona === 'admin');
      const outcome = await ruledBy(here, sending.runs.endpoint, sending.runs.params, caller);
      if (outcome !== 'ok') refused.push({ sending, persona, status: Number(outcome) });
    }
  return refused;
}

/** Everything in the database, as a text for each table, without what notes that someone was there. */
async function stateOfAll(): Promise<Record<string, string>> {
  const tables = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'web_sessions'`.execute(
    here.db,
  );
  const state: Record<string, string> = {};
  for (const { name } of tables.rows) {
    const { rows } = await sql<{ text: string }>`
      select count(*) || ' ' || coalesce(sum(hashtext(each::text)), 0) as text from ${sql.table(name)} each`.execute(
      here.db,
    );
    state[name] = rows[0]!.text;
  }
  return state;
}

async function checkRefusals(): Promise<void> {
  const refused = await refusedForms(await allForms());
  assert.ok(refused.length > 100, String(refused.length));
  const before = await stateOfAll();
  const wrong: string[] = [];
  for (const { sending, persona, status } of refused) {
    const answer = await browsers.get(persona)!.send(sending.address, sending.form, sending.fields);
    // Who may not see the page is told that instead.
    if (![status, 403, 404].includes(answer.status))
      wrong.push(`${persona} ${sending.page} ${sending.form}: ${answer.status}, but the API ${status}`);
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual(await stateOfAll(), before);
}

test('a form is refused where the API refuses what it runs, and changes nothing', async () => {
  await checkRefusals();
  await publish(here);
  await checkRefusals();
});
