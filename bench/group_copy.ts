/** A group with everything, its migration, and a plain copy of the same repositories and rows. */
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { startEmbedded } from '../src/db/embedded.ts';
import { type Instance, token } from './instance.ts';
import { commitOf, fastImport, git } from './seed.ts';

const levels = 5;
const projectsPerLevel = 4;
const commits = 500;

/** Full paths of the projects, with their ids. */
export type Planted = ReadonlyMap<string, number>;

function* history(): Generator<string> {
  for (let number = 0; number < commits; number++)
    yield commitOf(number, 'main', `src/${number % 20}/file${number % 200}.txt`, `content ${number}\n`.repeat(50));
}

const withToken = (url: string, place: string) => `${url.replace('://', `://root:${token}@`)}/${place}.git`;

async function made({ api }: Instance, address: string, body: object) {
  const answer = await api.post(address, { ...body });
  if (answer.status !== 201) throw new Error(`${address}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Groups of five levels, each with four projects that have a repository and a wiki. */
export async function plantGroup(instance: Instance, folder: string): Promise<Planted> {
  const source = path.join(folder, 'planted.git');
  await git('init', '--quiet', '--bare', source);
  await fastImport(source, history());
  const planted = new Map<string, number>();
  let parent: { id?: number; full_path: string } = { full_path: '' };
  for (let level = 1; level <= levels; level++) {
    const name = level === 1 ? 'planted' : `level-${level}`;
    parent = await made(instance, '/groups', { name, path: name, ...(parent.id && { parent_id: parent.id }) });
    for (let number = 1; number <= projectsPerLevel; number++) {
      const { id, path_with_namespace } = await made(instance, '/projects', {
        name: `project-${number}`,
        namespace_id: parent.id,
      });
      await git('-C', source, 'push', '--quiet', '--mirror', withToken(instance.url, path_with_namespace));
      await made(instance, `/projects/${id}/wikis`, { title: 'Home', content: 'A page.' });
      planted.set(path_with_namespace, id);
    }
  }
  return planted;
}

const tables = ['labels', 'issues', 'issue_labels', 'notes', 'events', 'merge_requests', 'merge_request_versions'];

/** What belongs to these projects in each table. */
function rowsOf(table: string, ids: readonly number[]): string {
  const projects = `project_id in (${ids.join(', ')})`;
  const issues = `issue_id in (select id from issues where ${projects})`;
  const requests = `merge_request_id in (select id from merge_requests where ${projects})`;
  if (table === 'issue_labels') return issues;
  if (table === 'merge_request_versions') return requests;
  return table === 'notes' ? `${issues} or ${requests}` : projects;
}

async function copyTable(from: pg.Client, to: pg.Client, table: string, ids: readonly number[]): Promise<void> {
  const { rows } = await from.query<{ names: string }>(
    `select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
      where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'`,
    [table],
  );
  const [{ names }] = rows as [{ names: string }];
  await to.query(`create schema if not exists copied; create table copied.${table} (like ${table} including all)`);
  const source = from.query(copyTo(`copy (select ${names} from ${table} where ${rowsOf(table, ids)}) to stdout`));
  await pipeline(source, to.query(copyFrom(`copy copied.${table} (${names}) from stdin`)));
}

/** Clones the repositories of the group, and copies its rows into tables with the same indexes. */
export async function copyPlainly(from: Instance, to: Instance, planted: Planted, folder: string): Promise<void> {
  const clones = path.join(folder, 'clones');
  await mkdir(clones);
  for (const place of planted.keys())
    await git(
      'clone',
      '--quiet',
      '--mirror',
      withToken(from.url, place),
      path.join(clones, place.replaceAll('/', '-')),
    );
  const databases = [
    await startEmbedded(from.data, { use: 'shared' }),
    await startEmbedded(to.data, { use: 'shared' }),
  ];
  const clients = databases.map(({ connectionString }) => new pg.Client({ connectionString }));
  try {
    for (const client of clients) await client.connect();
    for (const table of tables) await copyTable(clients[0]!, clients[1]!, table, [...planted.values()]);
    await clients[1]!.query('drop schema copied cascade');
  } finally {
    for (const client of clients) await client.end();
    for (const { stop } of databases) await stop();
    await rm(clones, { recursive: true });
  }
}
