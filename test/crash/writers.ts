/** Those who write until the server is killed, and remember what they were answered. */
import { createHash, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Answer, Client } from '../support/client.ts';
import type { GitClient } from '../support/git.ts';
import { fileUrl } from '../support/repository.ts';
import type { ExecutedJob } from './pipelines.ts';

/** How a change was answered: with success, with a refusal, or not at all, so that it may be there or not. */
export type Fate = 'done' | 'refused' | 'unknown';

export interface Project {
  id: number;
  path_with_namespace: string;
}

/** Everything that was tried, over all rounds. */
export interface Memory {
  /** Files on `main` by name, with the id of their blob. */
  files: Map<string, { blob: string; fate: Fate }>;
  /** By branch: the commit that the last successful push left, and the one after it that may have arrived. */
  pushes: Map<string, { answered: string | undefined; attempted: string | undefined }>;
  /** Projects by their path, with the answers to their creation and deletion. */
  projects: Map<string, { fate: Fate; id: number | undefined; deletion?: Fate }>;
  /** What was to be removed for good: a project, or with `group_id` its group with it. */
  removals: { project_id: number; group_id: number | undefined; fate: Fate }[];
  /** Merge requests that were to be merged, each with the issue that it closes. */
  merges: { id: number; issue_id: number; branch: string; remove_source_branch: boolean; fate: Fate }[];
  /** Pages of wikis by their address in the API. */
  pages: Map<string, { content: string; fate: Fate }>;
  /** Protected tags by name, with the answers to their protection and its removal. */
  tags: Map<string, { added: Fate; removed?: Fate }>;
  /** Events that an application sent, by their ids. */
  events: Map<string, Fate>;
  /** The ids of pipelines that were started. */
  pipelines: Set<number>;
  /** The jobs that runners were given since somebody looked, by their tokens. */
  jobs: Map<string, ExecutedJob>;
}

export const emptyMemory = (): Memory => ({
  files: new Map(),
  pushes: new Map(),
  projects: new Map(),
  removals: [],
  merges: [],
  pages: new Map(),
  tags: new Map(),
  events: new Map(),
  pipelines: new Set(),
  jobs: new Map(),
});

/** Whether a server is still running. */
export interface Round {
  number: number;
  isOver: boolean;
  /** Called whenever something was answered with success. */
  onSuccess(): void;
  /** Failures before any process was killed. */
  failures: string[];
}

const blobOf = (content: string): string =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(content)}\0${content}`)
    .digest('hex');

/** Whether a write was refused because its repository is being moved. */
const isOfMove = (text: unknown): boolean =>
  typeof text === 'string' && text.includes('The repository is temporarily read-only.');

/**
 * The result of a change. The refusals are the 400 of v4 for a write that lost against another write to the branch, and the 403 while a repository is moved. A server that is dying may
 * answer anything else.
 */
export async function asked(
  round: Round,
  what: string,
  asking: Promise<Answer>,
): Promise<{ fate: Fate; id?: number; iid?: number }> {
  const answer = await asking.catch(() => undefined);
  if (answer && answer.status < 300) {
    round.onSuccess();
    return { fate: 'done', id: answer.body?.id, iid: answer.body?.iid };
  }
  if (answer?.status === 400 || isOfMove(answer?.body?.message)) return { fate: 'refused' };
  if (!round.isOver) round.failures.push(`${what}: ${answer?.status} ${JSON.stringify(answer?.body)}`);
  return { fate: 'unknown' };
}

/** Creates files on `main`, one after the other, beside others who do the same. */
export async function writeFiles(
  api: Client,
  project: Project,
  writer: number,
  round: Round,
  { files }: Memory,
): Promise<void> {
  for (let count = 0; !round.isOver; count++) {
    const name = `round-${round.number}/writer-${writer}/${count}.txt`;
    const content = `${name}\n`.repeat(1 + (count % 50));
    files.set(name, { blob: blobOf(content), fate: 'unknown' });
    const parameters = { branch: 'main', commit_message: `Add ${name}`, content };
    const { fate } = await asked(round, name, api.post(fileUrl(project, name), parameters));
    files.set(name, { blob: blobOf(content), fate });
  }
}

/** Pushes commit after commit to a branch of its own. */
export async function push(
  git: GitClient,
  at: string,
  branch: string,
  round: Round,
  { pushes }: Memory,
): Promise<void> {
  const state = pushes.get(branch) ?? { answered: undefined, attempted: undefined };
  pushes.set(branch, state);
  for (let count = 0; !round.isOver; count++) {
    await writeFile(path.join(git.folder, at, `${round.number}-${count}.txt`), `${branch} ${count}\n`);
    await git.run(['add', '.'], { at });
    await git.run(['commit', '-q', '-m', `Round ${round.number}, ${count}`], { at });
    state.attempted = (await git.run(['rev-parse', 'HEAD'], { at })).stdout.trim();
    const { code, stderr } = await git.run(['push', '-q', 'origin', `HEAD:${branch}`], { at });
    if (code === 0) {
      state.answered = state.attempted;
      round.onSuccess();
    } else if (!round.isOver && !isOfMove(stderr)) round.failures.push(stderr);
  }
}

/** Creates projects, and marks every third one for deletion. */
export async function createProjects(api: Client, round: Round, { projects }: Memory): Promise<void> {
  for (let count = 0; !round.isOver; count++) {
    const name = `round-${round.number}-${count}`;
    projects.set(name, { fate: 'unknown', id: undefined });
    const { fate, id } = await asked(
      round,
      name,
      api.post('/projects', { name, path: name, initialize_with_readme: true }),
    );
    projects.set(name, { fate, id });
    if (fate !== 'done' || count % 3 !== 0 || round.isOver) continue;
    projects.set(name, { fate, id, deletion: 'unknown' });
    const { fate: deletion } = await asked(round, name, api.delete(`/projects/${id}`));
    projects.set(name, { fate, id, deletion });
  }
}

/** Creates projects in groups of their own below `attic`, marks them for deletion and has them removed for good: every second one with its group. */
export async function removeForGood(
  api: Client,
  attic: { id: number },
  round: Round,
  { removals }: Memory,
): Promise<void> {
  for (let count = 0; !round.isOver; count++) {
    const name = `gone-${round.number}-${count}`;
    const group = await asked(round, name, api.post('/groups', { name, path: name, parent_id: attic.id }));
    if (group.id === undefined) continue;
    const inside = { name: 'inside', path: 'inside', namespace_id: group.id, initialize_with_readme: true };
    const project = await asked(round, name, api.post('/projects', inside));
    if (project.id === undefined) continue;
    const withGroup = count % 2 === 1;
    const address = withGroup ? `/groups/${group.id}` : `/projects/${project.id}`;
    const full_path = withGroup ? `attic/${name}` : `attic/${name}/inside`;
    const marked = await asked(round, name, api.delete(address));
    const removal = { project_id: project.id, group_id: withGroup ? group.id : undefined, fate: 'unknown' as Fate };
    removals.push(removal);
    if (marked.fate !== 'done') continue;
    removal.fate = (await asked(round, name, api.delete(address, { permanently_remove: true, full_path }))).fate;
  }
}

/** Too many of the project, or more than a busy machine can take. */
const isRefusal = (status: number | undefined) => status === 429 || status === 503;

/**
 * Sends errors of an application, one after the other, as fast as they are taken.
 * @param store the address that takes single events
 * @param onSuccess by default nothing: beside others, they are no successes that the kill waits for, being so many more
 */
export async function sendEvents(
  store: string,
  sender: number,
  round: Round,
  { events }: Memory,
  onSuccess = () => {},
): Promise<void> {
  for (let count = 0; !round.isOver; count++) {
    const event_id = randomUUID();
    events.set(event_id, 'unknown');
    const extra = { basket: 'apples '.repeat(300) };
    const event = {
      event_id,
      message: `No apples ${'abcdefghij'[count % 10]}`,
      release: `orchard@${round.number}`,
      user: { id: sender },
      extra,
    };
    const reply = await fetch(store, { method: 'POST', body: JSON.stringify(event) }).catch(() => undefined);
    await reply?.arrayBuffer().catch(() => undefined);
    if (reply?.status === 200) {
      events.set(event_id, 'done');
      onSuccess();
    } else if (isRefusal(reply?.status)) events.set(event_id, 'refused');
    else if (!round.isOver) round.failures.push(`an event: ${reply?.status}`);
  }
}
