/** The Go client gitlab.com/gitlab-org/api/client-go: the stories are told in go/main.go, whose go.mod names the version. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, type TestContext, test } from 'node:test';
import { ownAddress } from '../support/address.ts';
import { manyIssues } from '../support/issues.ts';
import { exportLabels } from '../support/relation_exports.ts';
import { allowLocalSources } from '../support/source.ts';
import { type World, world } from '../support/world.ts';
import { buildGo } from './go_program.ts';
import { oddPaths } from './odd_paths.ts';

const source = path.join(import.meta.dirname, 'go');
const folder = await mkdtemp(path.join(tmpdir(), 'coppice-go-'));
after(() => rm(folder, { recursive: true, force: true }));

const environment = await ownAddress();
let built: ReturnType<typeof buildGo> | undefined;

async function tell(t: TestContext, story: string, prepare = async (_here: World): Promise<void> => {}): Promise<void> {
  built ??= buildGo(source, '.', folder);
  const client = await built;
  if ('missing' in client) return t.skip(client.missing);
  const here = await world({ environment });
  await prepare(here);
  const { url, people, project, group } = here;
  const child = spawn(client.program, [story], { stdio: ['pipe', 'inherit', 'pipe'] });
  child.stdin.end(JSON.stringify({ url, people, project, group, odd_paths: oddPaths }));
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  if (code !== 0) throw new Error(`The story ${story} ended badly:\n${said}`);
}

const stories: Record<string, string> = {
  people: 'Go client: an administrator adds a person, whose token is rotated and then dead',
  places: 'Go client: a group gets a subgroup, that a project, and a project its members',
  files: 'Go client: files are created, read, blamed, changed and removed, whatever they are called',
  branches_and_commits: 'Go client: branches are made, found and removed, and commits are listed over pages',
  freeze_periods: 'Go client: freeze periods are added, paged, changed and removed',
  merge_requests: 'Go client: merge requests are created, listed, discussed, compared, merged and deleted',
  wikis: 'Go client: pages of wikis are created, listed, rendered, renamed and deleted, and a file is attached',
  storage_moves: 'Go client: moves of projects, snippets and groups to a storage are scheduled, shown and listed',
  geo_sites: 'Go client: sites are added, listed, changed, repaired and removed, and show their status',
  clusters: 'Go client: clusters are added, shown, changed and removed, by administrators',
  keyset_sudo_and_refusals: 'Go client: keyset pagination of projects, sudo, and the texts of refusals',
};
for (const [story, name] of Object.entries(stories)) test(name, (t) => tell(t, story));
test('Go client: relations of a group are exported and downloaded', (t) => tell(t, 'relation_exports', exportLabels));
test('Go client: a migration is started, listed, shown with its entities, and canceled', (t) =>
  tell(t, 'migrations', allowLocalSources));
test('Go client: a list of 1,300 issues is walked to its end by the numbers of its pages', (t) =>
  tell(t, 'far_pages', (here) => manyIssues(here, 1300)));
