/** The diff of a commit, and the refs that contain it (docs/reference/repository.md). */
import { Type } from 'typebox';
import { codeReader, type Project } from '../../../../access/index.ts';
import {
  changedFiles,
  countCommits,
  type Repository,
  readCommit,
  refsContaining,
  repositoryOf,
  resolveCommit,
} from '../../../../git/index.ts';
import { found, get, notFound, one, pageOf, resource, type Services } from '../../../../http/index.ts';
import { gitPaging, mapPage, pageOfArray } from '../../../../lists/index.ts';
import { Diff, diffsOf } from './diff_present.ts';

const CommitSequence = resource('CommitSequence', { count: Type.Integer() });
export const CommitRef = resource('CommitRef', { type: Type.Enum(['branch', 'tag']), name: Type.String() });

const Sha = Type.String({ description: 'Commit, branch or tag' });
const path = '/projects/:id/repository/commits/:sha';

async function commitOf(
  services: Services,
  project: Project,
  sha: string,
): Promise<{ repository: Repository; id: string }> {
  const repository = repositoryOf(services, project);
  return { repository, id: found('Commit', await resolveCommit(repository, sha)) };
}

const kinds = { branch: ['heads'], tag: ['tags'], all: ['heads', 'tags'] } as const;

function presentRef(ref: string): { type: 'branch' | 'tag'; name: string } {
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/s.exec(ref) ?? [];
  return { type: kind === 'heads' ? 'branch' : 'tag', name };
}

export const commitDetailRoutes = [
  get(`${path}/diff`, {
    operation: 'listCommitDiffs',
    summary: 'Get the diff of a commit',
    access: codeReader,
    input: {
      sha: Sha,
      unidiff: Type.Boolean({ default: false, description: 'Include file headers in diffs' }),
      ...gitPaging,
    },
    returns: pageOf(Diff),
    refusals: { 404: '404 Commit Not Found' },
    handle: async ({ project, input, ...services }) => {
      const { repository, id } = await commitOf(services, project, input.sha);
      const { parent_ids } = await readCommit(repository, id);
      const range = { from: parent_ids[0] ?? null, to: id };
      const page = pageOfArray(await changedFiles(repository, { ...range, renames: true }), input);
      return { ...page, items: await diffsOf(repository, range, page.items, { unidiff: input.unidiff, isPage: true }) };
    },
  }),
  get(`${path}/sequence`, {
    operation: 'getCommitSequence',
    summary: 'Count the ancestors of a commit, including itself',
    access: codeReader,
    input: { sha: Sha, first_parent: Type.Boolean({ default: false }) },
    returns: one(CommitSequence),
    refusals: { 404: '404 Commit Not Found' },
    handle: async ({ project, input, ...services }) => {
      const { repository, id } = await commitOf(services, project, input.sha);
      return { count: await countCommits(repository, { from: [id], first_parent: input.first_parent }) };
    },
  }),
  get(`${path}/refs`, {
    operation: 'listCommitRefs',
    summary: 'List the branches and tags that contain a commit',
    access: codeReader,
    input: { sha: Sha, type: Type.Enum(['branch', 'tag', 'all'], { default: 'all' }), ...gitPaging },
    returns: pageOf(CommitRef),
    refusals: { 404: '404 Commit Not Found' },
    handle: async ({ project, input, ...services }) => {
      const { repository, id } = await commitOf(services, project, input.sha);
      const refs = await refsContaining(repository, id, kinds[input.type]);
      const { total: _, ...page } = pageOfArray(refs, input);
      return mapPage(page, presentRef);
    },
  }),
  get(`${path}/signature`, {
    operation: 'getCommitSignature',
    summary: 'Get the signature of a commit; always answers 404',
    access: codeReader,
    input: { sha: Sha },
    returns: one(Type.Object({})),
    refusals: { 404: ['404 Commit Not Found', '404 Signature Not Found'] },
    handle: async ({ project, input, ...services }) => {
      await commitOf(services, project, input.sha);
      throw notFound('Signature');
    },
  }),
];
