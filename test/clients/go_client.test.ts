/** The Go client gitlab.com/gitlab-org/api/client-go: the stories are told in go/, whose go.mod names the version. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, type TestContext, test } from 'node:test';
import { ownAddress } from '../support/address.ts';
import { manyIssues } from '../support/issues.ts';
import { newPublicKey } from '../support/public_key.ts';
import { exportLabels } from '../support/relation_exports.ts';
import { addReadme } from '../support/repository.ts';
import { directoryFile } from '../support/sign_in_file.ts';
import { allowLocalSources } from '../support/source.ts';
import { addSubmodule } from '../support/submodule.ts';
import { type World, world } from '../support/world.ts';
import { buildGo } from './installed.ts';
import { oddPaths } from './odd_paths.ts';

const source = path.join(import.meta.dirname, 'go');
const folder = await mkdtemp(path.join(tmpdir(), 'coppice-go-'));
after(() => rm(folder, { recursive: true, force: true }));

const environment = { ...(await ownAddress()), ...(await directoryFile()) };
let built: ReturnType<typeof buildGo> | undefined;

async function tell(t: TestContext, story: string, prepare = async (_here: World): Promise<void> => {}): Promise<void> {
  built ??= buildGo(source, '.', folder);
  const client = await built;
  if ('missing' in client) return t.skip(client.missing);
  const here = await world({ environment });
  await prepare(here);
  const { url, people, project, group } = here;
  const child = spawn(client.program, [story], { stdio: ['pipe', 'inherit', 'pipe'] });
  child.stdin.end(JSON.stringify({ url, people, project, group, odd_paths: oddPaths, public_key: newPublicKey() }));
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
  applications: 'Go client: applications are registered, listed and deleted',
  boards: 'Go client: boards of a project and a group are added, with lists that are moved and removed',
  search: 'Go client: what a project has is searched for everywhere, in a group and in the project',
  releases: 'Go client: releases are created with their tags and links, paged, changed and removed',
  environments: 'Go client: environments are added, changed, stopped and deleted, and deployments recorded',
  protected_environments: 'Go client: environments are protected, and a deployment waits for an approval',
  pipelines: 'Go client: statuses are read as pipelines and jobs, which cannot be run here',
  running:
    'Go client: pipelines and jobs are started, cancelled, retried, scheduled and triggered, and runners registered',
  feature_flags: 'Go client: flags and lists of users are added, changed and removed',
  mirrors: 'Go client: push mirrors are added, changed, run and removed, and a project is pulled from another',
  audit_events: 'Go client: audit events are listed and shown',
  group_links: 'Go client: groups are linked with groups of a directory and of other providers',
  badges: 'Go client: badges of a project and a group are added, changed, rendered and removed',
  templates: 'Go client: templates are listed and shown',
  custom_attributes: 'Go client: attributes of a user, a group and a project are set and removed',
  instance: 'Go client: messages, appearance and limits of the instance are changed, and keys looked up',
  group_rules: 'Go client: a group protects branches, rules approvals, and removes a billable member',
  dependencies: 'Go client: a merge request blocks another',
  keyset_sudo_and_refusals: 'Go client: keyset pagination of projects, sudo, and the texts of refusals',
};
for (const [story, name] of Object.entries(stories)) test(name, (t) => tell(t, story));
test('Go client: a submodule is moved, and a changelog written and committed', (t) =>
  tell(t, 'repository_tools', async (here) => {
    await addReadme(here);
    await addSubmodule(here);
  }));
test('Go client: relations of a group are exported and downloaded', (t) => tell(t, 'relation_exports', exportLabels));
test('Go client: a migration is started, listed, shown with its entities, and canceled', (t) =>
  tell(t, 'migrations', allowLocalSources));
test('Go client: a list of 1,300 issues is walked to its end by the numbers of its pages', (t) =>
  tell(t, 'far_pages', (here) => manyIssues(here, 1300)));
