/** Compiling the configuration of a project for its people (docs/reference/ci_configuration.md#lint). */
import type { MaybeCaller, Project } from '../../../access/index.ts';
import {
  type CiVariable,
  type Compiled,
  compileInTurn,
  type Facts,
  withoutJobs,
} from '../../../ci_configuration/index.ts';
import { currentOwner } from '../../../foundation/clients.ts';
import {
  type Commit,
  type Repository,
  readCommit,
  readTag,
  repositoryOf,
  resolveBranch,
  resolveCommit,
  resolveTag,
} from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { type ArtifactReader, noCommit, readerFor } from './reading_git.ts';
import type { Location } from './rules.ts';
import { type Built, sourcesFor } from './variable_queries.ts';

export const noContentText = 'Please provide content of .gitlab-ci.yml';
const noReferenceText = 'Reference not found';

interface Granted {
  project: Project;
  caller: MaybeCaller;
}

/** The branch or tag of a name, or of a full name; a branch comes before a tag. Undefined when there is neither. */
export async function refOf(
  repository: Repository,
  given: string,
): Promise<(Pick<Built, 'ref' | 'tag_message'> & { sha: string }) | undefined> {
  const name = given.replace(/^refs\/(?:heads|tags)\//, '');
  const head = given.startsWith('refs/tags/') ? undefined : await resolveBranch(repository, name);
  if (head !== undefined) return { ref: { type: 'branch', name }, sha: head };
  if (given.startsWith('refs/heads/')) return undefined;
  const tag = await resolveTag(repository, name);
  const sha = tag && (await resolveCommit(repository, `refs/tags/${name}`));
  if (!tag || sha === undefined) return undefined;
  return { ref: { type: 'tag', name }, sha, tag_message: (await readTag(repository, tag)).message };
}

/** A configuration to compile for what is built. */
export interface ToBuild {
  /** The text of the configuration, or where it is in the commit. */
  content: string | Location;
  built: Built;
  /** Whether to decide which jobs there are. */
  selects: boolean;
  /** Whether the jobs are wanted, rather than only whether the configuration is right. */
  with_jobs: boolean;
  /** Variables of the pipeline itself. */
  variables?: readonly CiVariable[];
  /** Values for the inputs of the header. */
  inputs?: Readonly<Record<string, unknown>>;
  /** Reads files that a job of the pipeline which starts this one has left. */
  artifact?: ArtifactReader;
}

/**
 * Compiles the configuration of a project.
 * @throws TooMuchWaiting
 */
export async function compileBuilt(
  services: Services,
  { project, caller }: Granted,
  { content, built, selects, with_jobs, variables = [], inputs, artifact }: ToBuild,
): Promise<Compiled> {
  const context = { project: project.full_path, sha: built.commit?.id ?? noCommit };
  const before = built.compared_with ?? (built.ref.type === 'branch' ? built.before_sha : undefined);
  const reader = readerFor(services, caller, context, {
    ...(before !== undefined && { before_sha: before }),
    ...(artifact && { artifact }),
  });
  const text = typeof content === 'string' ? content : await textAt(content, reader, context);
  if (text === undefined || text.trim() === '') return refused(noContentText);
  const facts = { source: built.source, ref: built.ref, context, has_cluster: false } satisfies Partial<Facts>;
  const sources = { ...(await sourcesFor(services, { project, caller }, built)), pipeline: variables };
  const work = { owner: currentOwner(), content: `${context.sha} ${text}` };
  const given = { content: text, context, sources, facts, selects, with_jobs, ...(inputs && { inputs }) };
  return compileInTurn(given, reader, work);
}

interface Asked {
  /** The text of the configuration, or where it is in the commit. */
  content: string | Location;
  /** The commit that files of the configuration are about; undefined for the head of the ref. */
  commit?: Commit;
  /** The branch or tag for which there would be a pipeline; undefined for the default branch. */
  ref: string | undefined;
  /** Whether to decide which jobs such a pipeline would have. */
  selects: boolean;
  with_jobs: boolean;
}

const refused = (error: string): Compiled => ({ result: withoutJobs([error]), environment_names: [] });

/**
 * Compiles a configuration as for a push of a ref.
 * @throws TooMuchWaiting
 */
export async function lint(
  services: Services,
  { project, caller }: Granted,
  { content, commit, ref, selects, with_jobs }: Asked,
): Promise<Compiled> {
  const repository = repositoryOf(services, project);
  const named = await refOf(repository, ref ?? project.default_branch);
  if (!named && selects) return refused(noReferenceText);
  const built: Built = {
    ref: named?.ref ?? { type: 'branch', name: project.default_branch },
    tag_message: named?.tag_message ?? null,
    commit: commit ?? (named && (await readCommit(repository, named.sha))),
    source: 'push',
  };
  return compileBuilt(services, { project, caller }, { content, built, selects, with_jobs });
}

/** The text of a configuration at its place; one that is elsewhere is included. */
async function textAt(
  location: Location,
  reader: ReturnType<typeof readerFor>,
  context: Facts['context'],
): Promise<string | undefined> {
  if (location.type !== 'local') return JSON.stringify({ include: [location.include] });
  const file = await reader.read({ type: 'local', context, path: location.path });
  return 'content' in file ? file.content : undefined;
}
