/** What one commit changed, and where it is found (repository.md section 5.1). */
import { Type } from 'typebox';
import { codeReader, type Project } from '../../../access/index.ts';
import { changedFiles, countCommits, type Repository, readCommit, refsContaining, resolveCommit } from '../../../git/index.ts';
import { repositoryOf } from '../../../git/place.ts';
import { found, get, gitPaging, notFound, one, pageOf, pageOfArray, resource, type Services } from '../../../http/index.ts';
import { Diff, diffsOf } from './diff_present.ts';

const CommitSequence = resource('CommitSequence', { count: Type.Integer() });
const CommitRef = resource('CommitRef', { type: Type.Enum(['branch', 'tag']), name: Type.String() });

const Sha = Type.String({ description: 'Commit, branch or tag' });
const path = '/projects/:id/repository/commits/:sha';

async function commitOf(services: Services, project: Project, sha: string): Promise<{ repository: Repository; id: string }> {
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
    summary: 'Show what a commit changed; a merge is compared with its first parent',
    access: codeReader,
    input: {
      sha: Sha,
      unidiff: Type.Boolean({ default: false, description: 'Whether each diff begins with the names of the file' }),
      ...gitPaging,
    },
    returns: pageOf(Diff),
    handle: async ({ project, input, ...services }) => {
      const { repository, id } = await commitOf(services, project, input.sha);
      const { parent_ids } = await readCommit(repository, id);
      const range = { from: parent_ids[0] ?? null, to: id };
      const page = pageOfArray(await changedFiles(repository, { ...range, renames: true }), input);
      return { ...page, items: await diffsOf(repository, range, page.items, { unidiff: input.unidiff, isPage: true }) };
    },
  }),
  get(`${path}/sequence`, {
    summary: 'Count the commits that lead to a commit, itself among them',
    access: codeReader,
    input: { sha: Sha, first_parent: Type.Boolean({ default: false }) },
    returns: one(CommitSequence),
    handle: async ({ project, input, ...services }) => {
      const { repository, id } = await commitOf(services, project, input.sha);
      return { count: await countCommits(repository, { from: [id], first_parent: input.first_parent }) };
    },
  }),
  get(`${path}/refs`, {
    summary: 'List the branches and tags that hold a commit',
    access: codeReader,
    input: { sha: Sha, type: Type.Enum(['branch', 'tag', 'all'], { default: 'all' }), ...gitPaging },
    returns: pageOf(CommitRef),
    handle: async ({ project, input, ...services }) => {
      const { repository, id } = await commitOf(services, project, input.sha);
      const refs = await refsContaining(repository, id, kinds[input.type]);
      const { total: _, ...page } = pageOfArray(refs, input);
      return { ...page, items: page.items.map(presentRef) };
    },
  }),
  get(`${path}/signature`, {
    summary: 'Signatures are not checked: there is none to show',
    access: codeReader,
    input: { sha: Sha },
    returns: one(Type.Object({})),
    handle: async ({ project, input, ...services }) => {
      await commitOf(services, project, input.sha);
      throw notFound('Signature');
    },
  }),
];
