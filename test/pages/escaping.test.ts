/** Whatever people write, pages are made of our elements, attributes and addresses only. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { sql } from 'kysely';
import { type Browser, browserOf } from '../support/browser.ts';
import { isNoPage } from '../support/dead_links.ts';
import { type Element, elementsOf } from '../support/html_tree.ts';
import { sent } from '../support/sent.ts';
import { type ShownWorld, shownWorld } from '../support/shown_world.ts';

const evil = `"'><evil-tag onclick=alert(1)><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}`;
const evilUrl = `javascript:alert(1)//${evil}`;
/** The same for names of branches and files, as far as git takes it. */
const evilName = `"'><evil-tag\u00a0onclick=alert(1)><svg/onload=alert(1)>{{7}}`;

/** Columns that say something to the server itself: identities, kinds, states, and what is read by machines. */
const machine =
  /(^|_)(id|sha|oid|ref|key|path|paths|slug|state|status|level|levels|visibility|storage|shards|type|kind|method|digest|checksum|fingerprint|scopes|username|email|target|head|head_commit|branch|plan|theme|events|event|action|part|slot|replicable|relation|record|color|availability|ecosystem|cluster|platform|usage|option|strategy|control|timezone|start|end|ip|list|allowlist|denylist|setting|regex|operation|prefix|provider|permissions|etag|code|now|usage_type|avatar|record_id|chunks|dist|severity|who|namespace|trigger|line_code|domain|emoji|environment_scope|before|commit_from|commit_to|public_key|ca_cert|secret|value|step|squash_option|package_manager|object_format|payload)$/;

/** Writes evil texts into all columns of text that are left. @returns those that took it */
async function fillWithEvil({ db }: ShownWorld): Promise<string[]> {
  const { rows } = await sql<{ table: string; name: string; is_list: boolean }>`
    select relname as "table", attname as name, atttypid::regtype::text = 'text[]' as is_list
      from pg_attribute join pg_class on pg_class.oid = attrelid
     where relkind = 'r' and relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped and attgenerated = ''
       and atttypid::regtype::text in ('text', 'citext', 'text[]')
     order by 1, 2`.execute(db);
  const filled: string[] = [];
  for (const { table, name, is_list } of rows) {
    if (machine.test(name)) continue;
    const text = /(^|_)(url|links|location)$/.test(name) ? evilUrl : evil;
    // Some are unique.
    const each = sql`${text} || row_number() over ()`;
    const value = is_list ? sql`array[${text}]` : sql`numbered.text`;
    const update = sql`
      update ${sql.table(table)} set ${sql.ref(name)} = ${value}
        from (select ctid as place, ${each} as text from ${sql.table(table)}) numbered
       where ${sql.table(table)}.ctid = numbered.place`;
    // Columns with rules of their own do not take it.
    if (
      await update.execute(db).then(
        () => true,
        () => false,
      )
    )
      filled.push(`${table}.${name}`);
  }
  return filled;
}

async function addEvilRepository({ as, project, group }: ShownWorld): Promise<void> {
  const url = `/projects/${project.id}`;
  const write = (file_path: string, content: string) => ({ action: 'create', file_path, content });
  const actions = [
    write(`${evilName}/${evil.replaceAll('/', '')}.ts`, `const text = \`${evil}\`; // ${evil}\n`),
    write(
      `${evilName}/README.md`,
      `# ${evil}\n\n[link](javascript:alert(1)) ![x](javascript:alert(1)) <a href="data:text/html,x">x</a>\n`,
    ),
    write('evil.svg', `<svg onload="alert(1)"><script>alert(1)</script></svg>\n`),
  ];
  const author = { author_name: 'Eve "onclick"', author_email: 'eve@example.com' };
  await sent(
    as('owner').post(`${url}/repository/commits`, {
      branch: 'main',
      commit_message: `${evil}\n\n${evil}`,
      actions,
      ...author,
    }),
  );
  await sent(as('owner').post(`${url}/repository/branches`, { branch: evilName, ref: 'main' }));
  await sent(as('owner').post(`${url}/repository/tags`, { tag_name: evilName, ref: 'main', message: evil }));
  for (const place of [url, `/groups/${group.id}`])
    await sent(
      as('owner').post(`${place}/wikis`, { title: evilName.replaceAll('/', ''), content: `${evil}\n\n${evilUrl}` }),
    );
  const change = {
    title: evil,
    description: `${evil}\n\n[x](${evilUrl})`,
    source_branch: evilName,
    target_branch: 'topic',
  };
  await sent(as('owner').post(`${url}/merge_requests`, change));
}

let here: ShownWorld;
let browser: Browser;
let filled: string[];
before(async () => {
  here = await shownWorld({});
  await addEvilRepository(here);
  browser = await browserOf(here, here.people.admin);
  filled = await fillWithEvil(here);
});

const elements = new Set(
  'a article aside body br button caption circle code col dd del details div dl dt em fieldset figcaption figure footer form g h1 h2 h3 h4 h5 h6 head header hr html i img input ins label legend li line link main meta nav ol option p path polyline pre progress rect s section select span strong sub summary sup svg table tbody td text textarea tfoot th thead time title tr ul blockquote script'.split(
    ' ',
  ),
);
const attributes = new Set(
  'action align alt aria-current aria-describedby aria-hidden aria-invalid aria-label aria-labelledby autocomplete charset checked class colspan content cx cy d data-copy data-editor data-file data-filter data-key data-keys data-letters data-list data-live data-part data-swap datetime disabled download enctype fill for form formnovalidate formmethod height hidden href id lang loading max maxlength method multiple name open placeholder points popover popovertarget r readonly rel required role rows rowspan rx ry scope selected size spellcheck src start style tabindex title type value viewbox width x x1 x2 y y1 y2'.split(
    ' ',
  ),
);
const addresses = ['href', 'src', 'action', 'formaction', 'cite'];

/** What a browser makes of an address that it would run, or load from elsewhere. */
const isHarmful = (address: string): boolean => {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(address.replaceAll(/[\s\p{Cc}]/gu, ''))?.[1]?.toLowerCase();
  return scheme !== undefined && !['http', 'https', 'mailto', 'ssh', 'git'].includes(scheme);
};

function problemsIn({ name, attributes: given, text }: Element): string[] {
  const src = given.get('src') ?? '';
  return [
    ...(elements.has(name) ? [] : [`<${name}>`]),
    ...[...given.keys()].filter((each) => !attributes.has(each.toLowerCase())).map((each) => `${name} ${each}=`),
    ...addresses.flatMap((each) => (isHarmful(given.get(each) ?? '') ? [`${name} ${each}=${given.get(each)}`] : [])),
    ...(name === 'script' && (text !== '' || !/^\/assets\/pages-\w+\.js$/.test(src))
      ? [`<script> ${src} ${text}`]
      : []),
    ...(name === 'link' && !/^\/(assets\/|-\/manifest\.json$|[^?]+\.atom($|\?))/.test(given.get('href') ?? '')
      ? ['<link>']
      : []),
    ...(name === 'meta' && !['viewport', undefined].includes(given.get('name')) ? ['<meta>'] : []),
  ];
}

test('every page is made of our own elements, attributes and addresses, whatever people have written', async () => {
  for (const column of [
    'issues.title',
    'notes.body',
    'labels.title',
    'users.name',
    'keys.title',
    'vulnerabilities.name',
  ])
    assert.ok(filled.includes(column), column);
  const asked = new Set<string>();
  const problems: string[] = [];
  let evils = 0;
  const open = async (address: string): Promise<string[]> => {
    const path = address.split('#', 1)[0]!;
    if (asked.has(path)) return [];
    asked.add(path);
    const { status, html, headers } = await browser.get(path);
    if (status >= 500) problems.push(`${path} answers ${status}`);
    if (!headers.get('content-type')?.startsWith('text/html')) return [];
    if (html.includes('alert(1)')) evils += 1;
    const found = elementsOf(html);
    problems.push(...found.flatMap(problemsIn).map((problem) => `${path}: ${problem}`));
    if (found.filter(({ name }) => name === 'script').length !== 1) problems.push(`${path}: scripts`);
    return found.map(({ attributes: given }) => given.get('href') ?? '').filter((href) => /^\/(?!\/)/.test(href));
  };
  const links = new Set<string>();
  for (const address of here.addresses.values()) for (const link of await open(address)) links.add(link);
  for (const link of [...links].filter((each) => !isNoPage(each)).slice(0, 200)) await open(link);
  assert.deepEqual([...new Set(problems)], []);
  assert.ok(evils > 60, `${evils} of ${asked.size} pages show something evil`);
});
