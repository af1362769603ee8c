/** Commit statuses: results that external services, such as CI systems, report for a commit (docs/reference/commit_statuses.md). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { codeReader, codeWriter, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type Repository,
  refsContaining,
  repositoryOf,
  resolveBranch,
  resolveCommit,
  resolveTag,
} from '../../../git/index.ts';
import {
  checked,
  found,
  get,
  Id,
  nullable,
  one,
  optional,
  pageOf,
  post,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow, userBasicColumns } from '../../people/users/index.ts';
import { otherPipelineText, refOfPipeline } from '../pipelines/actions.ts';
import { stage as externalStage, reportedStates, states } from '../pipelines/rules.ts';
import { reportStatus } from './actions.ts';
import { addressProblems } from './rules.ts';

/** Statuses of other systems, and jobs. Every failure of a reported status counts. `pipeline_id` is null until a job has assigned an imported status to its pipeline. */
export const CommitStatus = resource('CommitStatus', {
  id: Id,
  sha: Type.String(),
  ref: Type.String(),
  status: Type.Enum(states),
  name: Type.String(),
  target_url: nullable(Type.String()),
  description: nullable(Type.String()),
  created_at: Timestamp,
  started_at: nullable(Timestamp),
  finished_at: nullable(Timestamp),
  allow_failure: Type.Boolean(),
  pipeline_id: nullable(Id),
  coverage: nullable(Type.Number()),
  author: nullable(UserBasic),
});

const members = userBasicColumns.flatMap((column) => [sql.lit(column.split('.')[1]!), sql.ref(column)]);
const author: RawBuilder<UserBasicRow | null> = sql`(
  select json_build_object(${sql.join(members)}) from users where users.id = commit_statuses.user_id)`;

const statusesOf = (db: Database, project: Project) =>
  db
    .selectFrom('commit_statuses')
    .select([
      'id',
      'sha',
      'ref',
      'name',
      'target_url',
      'description',
      'created_at',
      'started_at',
      'finished_at',
      'coverage',
      'pipeline_id',
      'allow_failure',
    ])
    .select((q) => q.ref('status').$castTo<(typeof states)[number]>().as('status'))
    .select(author.as('author'))
    .where('project_id', '=', project.id);

type StatusRow = Awaited<ReturnType<ReturnType<typeof statusesOf>['executeTakeFirstOrThrow']>>;

const present = (url: string, row: StatusRow): Static<typeof CommitStatus> => ({
  ...row,
  author: row.author && presentUserBasic(url, row.author),
});

/** The ref of a status if the caller names none: the default branch, if it contains the commit. */
async function branchOf(repository: Repository, project: Project, sha: string): Promise<string> {
  const prefix = 'refs/heads/';
  const branches = (await refsContaining(repository, sha, ['heads'])).map((ref) => ref.slice(prefix.length));
  return found('References for commit', branches.find((branch) => branch === project.default_branch) ?? branches[0]);
}

/** The ref of a status: the ref in the request, the pipeline's ref, or a branch that contains the commit. */
async function placeOf(
  { db, repository, project }: { db: Database; repository: Repository; project: Project },
  sha: string,
  { ref: given, pipeline_id: id }: { ref?: string; pipeline_id?: number },
): Promise<{ ref: string; tag: boolean }> {
  const named = given?.replace(/^refs\/(heads|tags)\//, '') || undefined;
  const ref = id === undefined ? named : await refOfPipeline(db, { id, project_id: project.id, sha, ref: named });
  if (ref === undefined) return { ref: await branchOf(repository, project, sha), tag: false };
  const isTag = given?.startsWith('refs/tags/') || (await resolveBranch(repository, ref)) === undefined;
  return { ref, tag: isTag && (await resolveTag(repository, ref)) !== undefined };
}

const maximumLength = 255;
/** Text of at most 255 characters. */
const short = (description: string, problems: (text: string) => string[] = () => []) =>
  checked(Type.String({ description }), (text) => [
    ...(text.length > maximumLength ? [`is too long (maximum is ${maximumLength} characters)`] : []),
    ...problems(text),
  ]);

const Sha = Type.String({ description: 'Commit, branch or tag' });

export const commitStatuses = [
  get('/projects/:id/repository/commits/:sha/statuses', {
    operation: 'listCommitStatuses',
    summary: 'List the statuses of a commit',
    access: codeReader,
    input: {
      sha: Sha,
      ref: optional(Type.String({ description: 'Only of this branch or tag' })),
      name: optional(Type.String({ description: 'Only of this name' })),
      stage: optional(Type.String({ description: 'Only of this stage; the stage of reported statuses is `external`' })),
      pipeline_id: optional(Type.Integer({ description: 'Only of this pipeline' })),
      all: Type.Boolean({ default: false, description: 'Include statuses that newer ones have replaced' }),
      sort: Type.Enum(['asc', 'desc'], { default: 'asc', description: 'By ID' }),
      ...paging,
    },
    returns: pageOf(CommitStatus),
    refusals: { 404: '404 Commit Not Found' },
    handle: async ({ project, input, db, ...services }) => {
      const { ref, name, stage, pipeline_id, all, sort } = input;
      const sha = found('Commit', await resolveCommit(repositoryOf(services, project), input.sha));
      const query = statusesOf(db, project)
        .where('sha', '=', sha)
        .$if(Boolean(stage), (q) => q.where(sql<SqlBool>`coalesce(stage, ${externalStage}) = ${stage}`))
        .$if(!all, (q) => q.where('retried', '=', false))
        .$if(Boolean(ref), (q) => q.where('ref', '=', ref!))
        .$if(pipeline_id !== undefined, (q) => q.where('pipeline_id', '=', pipeline_id!))
        .$if(Boolean(name), (q) => q.where('name', '=', name!))
        .orderBy('id', sort);
      const page = await paginate(db, query, input);
      return mapPage(page, (row) => present(services.url, row));
    },
  }),
  post('/projects/:id/statuses/:sha', {
    operation: 'setCommitStatus',
    summary: 'Set the status of a commit',
    access: codeWriter,
    input: {
      sha: Sha,
      state: Type.Enum(reportedStates),
      ref: optional(short('The branch or tag that was built')),
      name: optional(short('Name of the status, such as that of a job; default `default`')),
      context: optional(short('Another name for `name`')),
      target_url: optional(short('URL with details', addressProblems)),
      description: optional(short('Short description of the result')),
      coverage: optional(Type.Number({ description: 'Test coverage in percent' })),
      pipeline_id: optional(
        Type.Integer({ description: 'The pipeline of this commit; without `ref`, its ref counts' }),
      ),
    },
    returns: one(CommitStatus),
    refusals: {
      400: [
        'Cannot transition status via :<event> from :<status> (Reason(s): Status cannot transition via "<event>")',
        `pipeline_id: ${otherPipelineText}`,
      ],
      404: ['404 Commit Not Found', '404 References for commit Not Found'],
    },
    handle: async ({ project, caller, input, db, ...services }) => {
      const { name, context, ref: _ref, pipeline_id: _id, sha: _sha, ...said } = input;
      const repository = repositoryOf(services, project);
      const sha = found('Commit', await resolveCommit(repository, input.sha));
      const place = await placeOf({ db, repository, project }, sha, input);
      const id = await reportStatus(db, {
        ...said,
        ...place,
        project,
        caller,
        sha,
        name: name || context || 'default',
      });
      return present(services.url, await statusesOf(db, project).where('id', '=', id).executeTakeFirstOrThrow());
    },
  }),
];
