/** The Python client python-gitlab, in its newest version: the stories are told in python_gitlab_walk.py. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { ownAddress } from '../support/address.ts';
import { manyIssues } from '../support/issues.ts';
import { newPublicKey } from '../support/public_key.ts';
import { exportLabels } from '../support/relation_exports.ts';
import { addReadme } from '../support/repository.ts';
import { directoryFile } from '../support/sign_in_file.ts';
import { allowLocalSources } from '../support/source.ts';
import { addSubmodule } from '../support/submodule.ts';
import { type World, world } from '../support/world.ts';
import { pythonWith } from './installed.ts';
import { oddPaths } from './odd_paths.ts';
import { startTeller } from './teller.ts';

const run = promisify(execFile);
const script = path.join(import.meta.dirname, 'python_gitlab_walk.py');

interface Installed {
  python: string;
  version: string;
}

/** @returns the client, or in words why it cannot be had on this machine */
async function install(): Promise<Installed | string> {
  const found = await pythonWith('python-gitlab');
  if ('missing' in found) return found.missing;
  const { stdout } = await run(found.python, ['-c', 'import gitlab; print(gitlab.__version__)']);
  return { ...found, version: stdout.trim() };
}

const environment = { ...(await ownAddress()), ...(await directoryFile()) };
const installed = await install();
// Warnings are errors: the client warns of replies that it finds odd.
const teller = typeof installed === 'string' ? undefined : startTeller(installed.python, '-B', '-W', 'error', script);

/** Tells one story to the server. */
async function tell(t: TestContext, story: string, prepare?: (here: World) => Promise<void>): Promise<void> {
  if (typeof installed === 'string') return t.skip(installed);
  t.diagnostic(`python-gitlab ${installed.version}`);
  const here = await world({ environment });
  await prepare?.(here);
  const { url, people, project, group } = here;
  assert.equal(
    await teller!.tell(story, { url, people, project, group, odd_paths: oddPaths, public_key: newPublicKey() }),
    null,
  );
}

const stories: Record<string, string> = {
  people: 'python-gitlab: an administrator adds a person, finds, changes, blocks and unblocks her',
  tokens: 'python-gitlab: a person calls with the token made for her, rotates it, and the old one is dead',
  places: 'python-gitlab: a group gets a subgroup, and that a project which begins with a commit',
  members: 'python-gitlab: a member is added, promoted, listed with the inherited ones, and removed',
  files: 'python-gitlab: a file is created, read, blamed, changed and removed',
  odd_names: 'python-gitlab: files keep their odd names',
  branches_and_commits: 'python-gitlab: branches are made, found and removed, and commits are listed over pages',
  comments_on_commits: 'python-gitlab: a commit is commented on and discussed, also at a line of its diff',
  freeze_periods: 'python-gitlab: freeze periods are added, paged, changed and removed',
  environments_and_deployments:
    'python-gitlab: environments are added, changed, stopped and deleted, and deployments recorded',
  merge_requests: 'python-gitlab: merge requests are created, listed, discussed, compared, merged and deleted',
  schedules: 'python-gitlab: pipelines are scheduled, and started with the token of a trigger',
  pipelines: 'python-gitlab: statuses are read as pipelines and jobs, and pipelines of a configuration are started',
  pipelines_of_configurations: 'python-gitlab: pipelines and jobs are started, cancelled, retried and deleted',
  runners: 'python-gitlab: a runner is registered, verified, changed, listed and deleted',
  files_for_jobs: 'python-gitlab: files for jobs are uploaded, and other projects let in with their job tokens',
  feature_flags: 'python-gitlab: flags and lists of users are added, changed and removed',
  protected_environments: 'python-gitlab: an environment is protected, and then not any more',
  audit_events: 'python-gitlab: audit events are listed over pages and shown',
  group_links: 'python-gitlab: groups are linked with groups of a directory and of other providers',
  badges: 'python-gitlab: badges of a project and a group are added, changed, rendered and removed',
  templates: 'python-gitlab: templates are listed and shown, also those of a project',
  custom_attributes: 'python-gitlab: attributes of a user, a group and a project are set, found and removed',
  instance: 'python-gitlab: messages, appearance and limits of the instance are changed, and keys looked up',
  group_rules: 'python-gitlab: a group protects branches, rules approvals, and removes a billable member',
  features: 'python-gitlab: a feature is set for some, for a share and for all, and forgotten',
  refusals: 'python-gitlab: refusals reach the person as the client words them',
  sudo: 'python-gitlab: an administrator uses sudo',
  keyset: 'python-gitlab: projects page by key',
  deploy_tokens: 'python-gitlab: deploy tokens of a project and a group are added and removed',
  applications: 'python-gitlab: applications are registered, listed and deleted, and get another secret',
  topics: 'python-gitlab: topics are added, given to a project, merged and removed',
  uploads: 'python-gitlab: a file for texts is uploaded, listed, downloaded and deleted',
  releases: 'python-gitlab: a release is created with its tag, changed, given links and removed',
  boards: 'python-gitlab: boards of a project and a group are added, with lists that are moved and removed',
  mirrors: 'python-gitlab: push mirrors are added, changed and removed, and a project is pulled from another',
  push_rules: 'python-gitlab: push rules of a project and a group are added, changed, enforced and removed',
  wikis: 'python-gitlab: pages of wikis are created, listed, rendered, changed and deleted, and a file is attached',
  storage_moves:
    'python-gitlab: moves of repositories to a storage, for which it has no methods, are reached by their paths',
  webhooks: 'python-gitlab: webhooks of a project and of the server are added, changed, tested and removed',
  geo_nodes: 'python-gitlab: nodes are listed, changed, repaired and removed, and show their status',
  snippets: 'python-gitlab: snippets of a project and of a user are created, changed, listed and deleted',
  variables: 'python-gitlab: variables of a project, a group and the instance are added, changed and removed',
  search: 'python-gitlab: issues are searched for everywhere, in a group and in a project',
};
for (const [story, name] of Object.entries(stories)) test(name, (t) => tell(t, story));

test('python-gitlab: a submodule is moved, and a changelog, for which it has no methods, written and committed', (t) =>
  tell(t, 'repository_tools', async (here) => {
    await addReadme(here);
    await addSubmodule(here);
  }));
test('python-gitlab: relations of a project and a group, for whose export it has no methods, are downloaded by their paths', (t) =>
  tell(t, 'relation_exports', exportLabels));
test('python-gitlab: a migration is started, listed, shown with its entities, and canceled', (t) =>
  tell(t, 'migrations', allowLocalSources));
test('python-gitlab: a list of 1,300 issues is walked to its end', (t) =>
  tell(t, 'far_pages', (here) => manyIssues(here, 1300)));
