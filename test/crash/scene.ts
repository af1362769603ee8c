/** A server that is written to, killed, and looked at. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readConfig } from '../../src/config.ts';
import { keepAroundRef, repositoryOf } from '../../src/git/index.ts';
import { type Client, clientOf } from '../support/client.ts';
import { atFileEnd } from '../support/file_end.ts';
import { type GitClient, gitClient, remoteOf } from '../support/git.ts';
import { environmentFor, type Instance, type ServerEnvironment, startInstance } from '../support/instance.ts';
import { prepareData } from '../support/prepared_data.ts';
import type { Random } from '../support/random.ts';
import { protectTags } from './audit_events.ts';
import { inspect } from './inspection.ts';
import { mergeBranches } from './merges.ts';
import { openWorkshop, runPipelines, type Workshop } from './pipelines.ts';
import { exportRelations } from './relation_exports.ts';
import { moveRepositories, storagesIn } from './storage_moves.ts';
import { writePages } from './wikis.ts';
import {
  createProjects,
  emptyMemory,
  type Memory,
  type Project,
  push,
  type Round,
  removeForGood,
  sendEvents,
  writeFiles,
} from './writers.ts';

/** Files are written by so many at once, all to the same branch. */
const fileWriters = 3;
const pushers = 2;
const senders = 4;
const administratorsAtOnce = 4;
/** As many as keep a server busy. */
const sendersAlone = 32;
/** The kill comes after so many successes, and a moment later. */
const mostSuccesses = 80;
const longestMoment_ms = 40;

export const victims = ['server', 'database', 'both'] as const;
export type Victim = (typeof victims)[number];

export interface Scene {
  environment: ServerEnvironment;
  api: Client;
  git: GitClient;
  instance: Instance;
  /** The project that is written to. */
  project: Project;
  /** The project in which branches are merged. */
  merging: Project;
  /** The group of what is removed for good. */
  attic: { id: number };
  /** Where pipelines are executed. */
  workshop: Workshop;
  /** Where errors of an application are sent. */
  store: string;
  memory: Memory;
}

async function start(environment: ServerEnvironment): Promise<Instance> {
  const instance = await startInstance(environment);
  atFileEnd(instance.stop);
  return instance;
}

/** A server on a folder of its own, with what the writers need. All goes when the test file ends. */
export async function openScene(): Promise<Scene> {
  const data = await mkdtemp(path.join(tmpdir(), 'coppice-crash-'));
  atFileEnd(() => rm(data, { recursive: true, force: true }));
  await prepareData(data);
  const token = 'crash-token-for-one-run-only';
  const environment = { ...(await environmentFor(data, token)), COPPICE_STORAGES: storagesIn(data) };
  const api = clientOf(`${environment.COPPICE_URL}/api/v4`, token);
  const git = await gitClient();
  const instance = await start(environment);
  const { project, merging, attic, store } = await furnish(api, environment.COPPICE_URL);
  const workshop = await openWorkshop(api, environment.COPPICE_URL);
  const remote = remoteOf(environment.COPPICE_URL, project.path_with_namespace, token);
  for (let pusher = 0; pusher < pushers; pusher++)
    assert.equal((await git.run(['clone', '-q', remote, `clone-${pusher}`])).code, 0);
  return { environment, api, git, instance, project, merging, attic, workshop, store, memory: emptyMemory() };
}

async function furnish(api: Client, url: string): Promise<Pick<Scene, 'project' | 'merging' | 'attic' | 'store'>> {
  const project = await api.post('/projects', { name: 'Written to', path: 'written-to', initialize_with_readme: true });
  assert.equal(project.status, 201);
  const merging = await api.post('/projects', {
    name: 'Merged into',
    path: 'merged-into',
    initialize_with_readme: true,
  });
  assert.equal(merging.status, 201);
  const attic = await api.post('/groups', { name: 'Attic', path: 'attic' });
  assert.equal(attic.status, 201);
  const { id } = project.body;
  const tracking = { active: true, integrated: true, events_per_minute: 0 };
  assert.equal((await api.put(`/projects/${id}/error_tracking/settings`, tracking)).status, 200);
  const [{ public_key }] = (await api.get(`/projects/${id}/error_tracking/client_keys`)).body;
  const store = `${url}/api/v4/error_tracking/collector/api/${id}/store/?sentry_key=${public_key}`;
  return { project: project.body, merging: merging.body, attic: attic.body, store };
}

type Writers = (scene: Scene, round: Round) => Promise<void>[];

/** Applications alone, which send errors as fast as they are taken: the kill comes after some of them. */
export const applications: Writers = ({ store, memory }, round) =>
  Array.from({ length: sendersAlone }, (_, sender) =>
    sendEvents(store, sender, round, memory, () => round.onSuccess()),
  );

/** Administrators alone, who change rules as fast as they can. */
export const administrators: Writers = ({ api, project, memory }, round) =>
  Array.from({ length: administratorsAtOnce }, (_, writer) => protectTags(api, project, round, memory, writer));

/** Pipelines and their runners alone. */
export const workshops: Writers = ({ api, workshop, memory }, round) => runPipelines(api, workshop, round, memory);

const allWriters: Writers = ({ api, git, project, merging, attic, workshop, store, memory }, round) => [
  ...Array.from({ length: fileWriters }, (_, writer) => writeFiles(api, project, writer, round, memory)),
  ...Array.from({ length: pushers }, (_, pusher) => push(git, `clone-${pusher}`, `pushed-${pusher}`, round, memory)),
  createProjects(api, round, memory),
  mergeBranches(api, merging, round, memory),
  removeForGood(api, attic, round, memory),
  writePages(api, attic, round, memory),
  moveRepositories(api, project, round, memory),
  exportRelations(api, project, round),
  protectTags(api, project, round, memory),
  ...runPipelines(api, workshop, round, memory),
  ...Array.from({ length: senders }, (_, sender) => sendEvents(store, sender, round, memory)),
];

/** What happens in a round; by default everything, and the kill comes soon. */
interface Play {
  writers: Writers;
  /** After how many at most. */
  successes: number;
}

/** Kills when enough was written; resolves when it is done. */
async function strike(victim: Victim, running: Instance, round: Round, most: number, random: Random): Promise<void> {
  const successes = 1 + random.below(most);
  const moment_ms = random.below(longestMoment_ms);
  await new Promise<void>((resolve) => {
    let count = 0;
    round.onSuccess = () => {
      if (++count === successes) resolve();
    };
  });
  await new Promise((resolve) => setTimeout(resolve, moment_ms));
  round.isOver = true;
  if (victim !== 'server') await running.killDatabase();
  if (victim !== 'database') await running.killServer();
}

/** What a git process leaves that is killed while it sets a ref, which rarely happens by chance: it takes less than a millisecond. */
async function leaveLock({ environment, merging }: Scene): Promise<void> {
  const { storages } = readConfig(environment);
  const repository = repositoryOf({ storages: { default: storages[0]!.path } }, { id: merging.id, storage: 'default' });
  const lock = path.join(repository.path, `${keepAroundRef('0'.repeat(40))}.lock`);
  await mkdir(path.dirname(lock), { recursive: true });
  await writeFile(lock, '');
}

/** Writes until the victim is killed, starts what is missing, and looks at what is left. */
export async function playRound(
  scene: Scene,
  number: number,
  victim: Victim,
  random: Random,
  { writers, successes }: Play = { writers: allWriters, successes: mostSuccesses },
): Promise<void> {
  const { instance, environment } = scene;
  const round: Round = { number, isOver: false, onSuccess: () => {}, failures: [] };
  const struck = strike(victim, instance, round, successes, random);
  await Promise.all([struck, ...writers(scene, round)]);
  if (round.failures.length > 0)
    assert.fail(`Writing failed before anything was killed:\n${round.failures.join('\n')}\n${instance.said()}`);
  if (victim === 'database') await instance.ready();
  else {
    await leaveLock(scene);
    scene.instance = await start(environment);
  }
  await inspect(scene);
}

/** @returns how much was tried so far */
export const tried = ({ memory }: Scene): string =>
  `${memory.files.size} files, ${memory.projects.size} projects, ${memory.removals.length} removals, ${memory.merges.length} merges, ${memory.pages.size} pages, ${memory.pipelines.size} pipelines, ${memory.events.size} events`;
