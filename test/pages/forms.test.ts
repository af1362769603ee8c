/** What is typed into a form, and refused, is there again, with the reason beside its field. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type Browser, browserOf } from '../support/browser.ts';
import { elementsOf, type FormField, formsIn, type PageForm, sentBy } from '../support/html_tree.ts';
import { newPublicKey } from '../support/public_key.ts';
import { type ShownWorld, shownWorld } from '../support/shown_world.ts';

let here: ShownWorld;
before(async () => {
  here = await shownWorld({});
});

/** No document can hold it, so a form cannot show it again. */
const nul = '\0';
const noOption = 'none of them';
/** New labels are made, files of wikis may contain anything, and a branch, place or level that does not exist is refused without its parameter. */
const takesAnything = new Set(['labels[]', 'content', 'default_branch', 'namespace', 'level']);

/** Values that a field must not take. */
function wrongFor({ name, type, is_required, maximum, options }: FormField): string[] {
  const takesAny = takesAnything.has(name);
  return [
    ...(is_required ? [''] : []),
    ...(maximum === undefined ? [] : ['x'.repeat(maximum + 1)]),
    ...(['text', 'textarea'].includes(type) && !takesAny ? [nul] : []),
    ...(type === 'date' ? ['never'] : []),
    ...(type === 'number' ? ['many'] : []),
    ...(options.length > 0 && !takesAny ? [noOption] : []),
  ];
}

/** Forms that do not tell whether it was the name or the password. */
const saysNothing = new Set(['sign_in']);

/** What stands in required fields while another one is wrong. */
const usual: Readonly<Record<string, (form: PageForm) => string>> = {
  key: newPublicKey,
  'scopes[]': () => 'read_repository',
  typed: ({ action }) => /^\/(?:groups\/)?(.+?)\/-\//.exec(action)![1]!,
  target: () => '2',
  branch: () => 'new',
  ref: () => 'main',
  from: () => 'main',
  start_date: () => '2030-05-01',
  due_date: () => '2030-05-14',
};

/** What a form sends, with something in all that must be filled in. */
function filledIn(form: PageForm): Record<string, string[]> {
  const sent = sentBy(form);
  for (const { name, is_required } of form.fields)
    if (sent[name]?.join('') === '' && (is_required || name in usual))
      sent[name] = [usual[name]?.(form) ?? 'something'];
  // What it changes is ticked in the list above it.
  return form.id === 'bulk' ? { ...sent, 'iids[]': ['1'] } : sent;
}

/** A refusal of the API that names the value and no parameter: it stands above the fields. */
const namesValue = 'is not a valid level';

/** What someone fills in, and can lose. */
const isTyped = ({ type }: FormField): boolean => !['hidden', 'password', 'file'].includes(type);

const shortened = (text: string): string => JSON.stringify(text.length > 20 ? `${text.slice(0, 20)}…` : text);

/** What is missing when a form was refused because of a field. */
function problemsOf(
  form: PageForm,
  field: FormField,
  sent: Record<string, string[]>,
  { status, html }: { status: number; html: string },
): string[] {
  if (status < 400 || status >= 500) return [`answers ${status}`];
  const again = formsIn(html).find(({ id }) => id === form.id);
  if (!again) return ['is not shown again'];
  const shown = sentBy(again);
  const lost = form.fields
    .filter(isTyped)
    .filter(({ name }) => String(shown[name]) !== String(sent[name]) && ![nul, noOption].includes(String(sent[name])));
  return [
    ...(again.summary === undefined ? ['has no summary'] : []),
    ...(again.summary?.includes(namesValue) ||
    again.fields.some(({ name, reason }) => name === field.name && reason !== undefined)
      ? []
      : [`says nothing at the field, but above it “${again.summary}”`]),
    ...lost.map(({ name }) => `has lost ${name}: ${shortened(String(shown[name]))}`),
  ];
}

async function problemsWith(browser: Browser, form: PageForm): Promise<string[]> {
  const problems: string[] = [];
  for (const field of form.fields.filter(isTyped))
    for (const value of wrongFor(field)) {
      const sent = { ...filledIn(form), [field.name]: [value] };
      const answer = await browser.send(form.action, form.does[0]!, sent);
      const wrong = problemsOf(form, field, sent, answer);
      problems.push(...wrong.map((text) => `${form.action} ${form.id}: ${field.name}=${shortened(value)} ${text}`));
    }
  return problems;
}

test('a form that is refused comes back with what was typed, and says beside the field why', async () => {
  const browser = await browserOf(here, here.people.owner);
  const problems: string[] = [];
  for (const address of here.addresses.values()) {
    const { status, html } = await browser.get(address);
    if (status !== 200) continue;
    const forms = formsIn(html).filter(({ id, is_post }) => is_post && !saysNothing.has(id));
    for (const form of forms) problems.push(...(await problemsWith(browser, form)));
  }
  assert.deepEqual(problems, []);
});

/** The address of a list with its filters filled in. */
const filtered = (form: PageForm, values: Record<string, string>): string =>
  `${form.action}?${new URLSearchParams({ ...values, sort: 'created_asc' })}`;

test('a list whose filter is refused is shown with its filters as they were typed, and the reason', async () => {
  const browser = await browserOf(here, here.people.owner);
  const project = `/${here.project.full_path}/-`;
  for (const [list, wrong, kept] of [
    [`${project}/issues`, { search: nul }, { labels: 'ripe', milestone: 'Autumn' }],
    [`${project}/merge_requests`, { draft: 'perhaps' }, { target_branch: 'main', author_username: 'pip' }],
    [`${project}/commits`, { since: 'yesterday' }, { author: 'pip', until: '2030-01-01' }],
    [`${project}/branches`, { search: nul }, {}],
    ['/explore', { search: nul }, {}],
  ] as const) {
    const asked = await browser.get(list);
    const [[name]] = Object.entries(wrong) as [[string, string]];
    const filterIn = (html: string) =>
      formsIn(html).find(
        ({ is_post, action, fields }) =>
          !is_post && action !== '/search' && fields.some((field) => field.name === name),
      )!;
    const form = filterIn(asked.html);
    const refused = await browser.get(filtered(form, { ...kept, ...wrong }));
    assert.equal(refused.status, 400, list);
    const again = filterIn(refused.html);
    assert.ok(again.summary?.includes('is'), list);
    assert.ok(again.fields.find((field) => field.name === name)!.reason, list);
    for (const [other, value] of Object.entries(kept)) assert.deepEqual(sentBy(again)[other], [value], list);
    const links = (html: string) => elementsOf(html).filter((element) => element.attributes.get('class') === 'title');
    assert.equal(links(refused.html).length, links(asked.html).length, 'what the list has without filters');
  }
});

test('a number of a page that cannot be read leads back to the list', async () => {
  const browser = await browserOf(here, here.people.owner);
  const { status, html } = await browser.get(`/${here.project.full_path}/-/issues?page=first`);
  assert.equal(status, 400);
  assert.match(html, /<form method="get"[^>]*><p class="refusal" role="alert">Page is invalid/);
  const changes = await browser.get(`/${here.project.full_path}/-/merge_requests/1/diffs?diff_id=first`);
  assert.equal(changes.status, 400);
  assert.match(changes.html, /role="alert">Version id is invalid<[\s\S]*<h2 id="changes">/);
});

test('a form that is refused at an address whose query is refused too comes back', async () => {
  const browser = await browserOf(here, here.people.owner);
  const typed = { body: `${nul}I wrote this` };
  const { status, html } = await browser.send(`/${here.project.full_path}/-/issues/2?page=first`, 'comment', typed);
  assert.equal(status, 400);
  assert.match(html, /I wrote this<\/textarea>/);
});
