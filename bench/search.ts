/** Search, as a member of 1,000 projects: titles of a million issues, and 2 GB of code. */
import path from 'node:path';
import { type Client, clientOf } from '../test/support/client.ts';
import { rareWord, seedCode } from './code_seed.ts';
import { type Instance, startInstance } from './instance.ts';
import { seedIssues } from './issue_seed.ts';
import { inTurn } from './measure.ts';
import { ms, plainRow, type Row } from './table.ts';

const turns = Number(process.env.BENCH_TURNS ?? 60);
/** BENCH_ISSUES and BENCH_PROJECTS make the instance smaller, to see whether it runs. */
const issues = Number(process.env.BENCH_ISSUES ?? 1_000_000);
const projects = Number(process.env.BENCH_PROJECTS ?? 1_000);

/** A user who is a member of both groups, and so of all projects. */
async function addMember({ api, url }: Instance): Promise<Client> {
  const name = 'searcher';
  const password = 'correct horse battery';
  const created = await api.post('/users', {
    username: name,
    name,
    email: `${name}@example.com`,
    password,
    skip_confirmation: true,
  });
  const { id } = created.body;
  const { body: groups } = await api.get('/groups');
  for (const group of groups) await api.post(`/groups/${group.id}/members`, { user_id: id, access_level: 30 });
  const { body } = await api.post(`/users/${id}/personal_access_tokens`, { name, scopes: ['api'] });
  return clientOf(`${url}/api/v4`, body.token);
}

/** How long pages of a search take nine of ten times. */
async function searchRow(member: Client, name: string, parameters: Record<string, unknown>, most_ms: number) {
  const ask = async () => {
    const { status, headers, body } = await member.get('/search', parameters);
    if (status !== 200 || body.length === 0) throw new Error(`${name}: ${status}, ${body.length} items`);
    if (headers.get('x-search-incomplete')) throw new Error(`${name}: incomplete`);
  };
  await inTurn(10, ask);
  const [measured] = await inTurn(turns, ask);
  return plainRow(`search: ${name}`, ms(measured!.p90_ms), `P90 ≤ ${most_ms} ms`, measured);
}

/** A common word is in a fifth of all texts of issues, and a rare one in a few of a thousand. */
const titles = {
  'a common word in titles': { search: 'cfcd', fields: ['title'] },
  'a rare word in titles': { search: 'ohel', fields: ['title'] },
  'a common word in issues': { search: 'cfcd' },
  'a rare word in issues': { search: 'ohel' },
  'two words in issues': { search: 'cfcd ohel' },
};

const code = {
  'a common word in code': { search: 'function' },
  'a rare word in code': { search: rareWord },
  'a word with signs in code': { search: 'Object.keys(' },
  'a rare word in files of a type': { search: `${rareWord} extension:ts` },
};

const megabytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`;

async function codeRows(instance: Instance, member: Client, folder: string): Promise<Row[]> {
  const paths = Array.from({ length: projects }, (_, number) => `${number % 2 ? 'rest' : 'half'}/many-${number}`);
  const { text_bytes, index_bytes, took_ms } = await seedCode(instance, paths, folder);
  const rows: Row[] = [
    {
      ...plainRow(`search: index of ${projects} projects`, megabytes(index_bytes), '≤ 1× the text'),
      limit: megabytes(text_bytes),
      ratio: `${(index_bytes / text_bytes).toFixed(2)}×`,
    },
    plainRow('search: index complete after the last push', `${Math.round(took_ms / 1000)} s`, ''),
  ];
  for (const [name, parameters] of Object.entries(code))
    rows.push(await searchRow(member, name, { scope: 'blobs', ...parameters }, 300));
  return rows;
}

/** @param folder for the data of an instance, and for what is pushed */
export async function measureSearch(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'search'));
  try {
    await seedIssues(instance, issues, projects);
    const member = await addMember(instance);
    const rows: Row[] = [];
    for (const [name, parameters] of Object.entries(titles))
      rows.push(await searchRow(member, name, { scope: 'issues', ...parameters }, 100));
    rows.push(...(await codeRows(instance, member, folder)));
    return rows;
  } finally {
    await instance.stop();
  }
}
