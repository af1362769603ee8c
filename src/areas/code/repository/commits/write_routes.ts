/** Creating commits through the API (docs/reference/repository.md). */
import { type Static, Type } from 'typebox';
import { branchWriter } from '../../../../access/index.ts';
import { readCommit, repositoryOf, resolveCommit } from '../../../../git/index.ts';
import {
  AnyText,
  allOptional,
  badRequest,
  byOutcome,
  forbidden,
  found,
  leftOutIfBlank,
  mutuallyExclusive,
  NotBlank,
  one,
  optional,
  post,
  refusedAs,
  required,
  type Services,
} from '../../../../http/index.ts';
import { mapInSlices } from '../../../../markdown/index.ts';
import { startProjectFor } from '../owners/fork_network_queries.ts';
import { Commit, CommitDetail, presentCommit } from '../present.ts';
import { branchRefusal, mayCommitTo, type Push } from '../push_checks/checks.ts';
import { commitTexts, fileTexts } from '../push_checks/refusal_rules.ts';
import { contentIn } from '../rules.ts';
import { commitChanges } from './actions.ts';
import { type Picking, pickCommit } from './cherry_pick_actions.ts';
import { type FileAction, FileChanged } from './file_actions.ts';
import { commitDetail } from './git.ts';

/** As for single files: a body of 10 MiB in Base64, escaped as a form, is four times as long. */
const bodyLimit_bytes = 100 * 1024 * 1024;

const kinds = ['create', 'update', 'move', 'delete', 'chmod'] as const;
const Action = Type.Object({
  action: refusedAs(`must be one of: ${kinds.join(', ')}`, required(Type.Enum([...kinds]))),
  file_path: required(Type.String()),
  previous_path: optional(Type.String({ description: 'Previous path of a moved file' })),
  content: optional(AnyText()),
  encoding: refusedAs(
    'must be text or base64',
    Type.Enum(['text', 'base64'], { default: 'text', description: 'How `content` is encoded' }),
  ),
  last_commit_id: optional(Type.String({ description: 'Last commit of the file known to the caller' })),
  execute_filemode: optional(
    refusedAs('must be a boolean', Type.Boolean({ description: 'Whether the file is executable' })),
  ),
});

const badCommit = (text: string) => badRequest(`400 Bad request - ${text}`);

/** @throws ApiError 400 if an action lacks a member that its kind needs */
async function actionFrom(given: Static<typeof Action>, index: number): Promise<FileAction> {
  const { action, file_path, previous_path, last_commit_id, execute_filemode, encoding } = given;
  const content =
    given.content === undefined ? undefined : await contentIn(`actions[${index}][content]`, given.content, encoding);
  const need = <T>(name: string, value: T | undefined): T => {
    if (value === undefined) throw badCommit(`actions[${index}][${name}] is required for ${action} action`);
    return value;
  };
  switch (action) {
    case 'create':
      return { action, file_path, content: content ?? Buffer.alloc(0), execute_filemode };
    case 'update':
      return { action, file_path, content: need('content', content), last_commit_id, execute_filemode };
    case 'delete':
      return { action, file_path, last_commit_id };
    case 'move':
      return {
        action,
        file_path,
        previous_path: need('previous_path', previous_path),
        content,
        last_commit_id,
        execute_filemode,
      };
    case 'chmod':
      return { action, file_path, execute_filemode: need('execute_filemode', execute_filemode), last_commit_id };
  }
}

async function refuseBranch(services: Pick<Services, 'db'>, push: Push, branch: string): Promise<void> {
  if (!(await mayCommitTo(services, push, branch))) throw forbidden(branchRefusal);
}

const pickInput = {
  sha: Type.String({ description: 'Commit, branch or tag' }),
  branch: NotBlank({ description: 'The branch that gets the new commit' }),
  dry_run: Type.Boolean({ default: false, description: 'Check whether it would succeed, without committing' }),
};
const picked = byOutcome(Type.Union([Commit, Type.Object({ dry_run: Type.Enum(['success']) })]), {
  200: 'A dry run that went well',
});

async function pickReply(services: Services, pick: Omit<Picking, 'commit'> & { sha: string }) {
  const { project, sha } = pick;
  await refuseBranch(services, pick, pick.branch);
  const repository = repositoryOf(services, project);
  const commit = await readCommit(repository, found('Commit', await resolveCommit(repository, sha)));
  const id = await pickCommit(services, { ...pick, commit });
  return id === undefined
    ? { body: { dry_run: 'success' as const }, status: 200 }
    : { body: presentCommit(services.url, project, await readCommit(repository, id)) };
}

const path = '/projects/:id/repository/commits';

export const commitWriteRoutes = [
  post(path, {
    operation: 'createCommit',
    summary: 'Create a commit with multiple files',
    description: 'All actions become one commit, or none is applied. The body has at most 100 MiB.',
    access: branchWriter,
    body_limit_bytes: bodyLimit_bytes,
    input: {
      branch: required(Type.String({ description: 'The branch to commit to' })),
      commit_message: required(Type.String()),
      actions: refusedAs('must be an array', required(Type.Array(Action, { maxItems: 5000 }))),
      ...allOptional({
        start_branch: Type.String({ description: 'The branch that a new branch starts from' }),
        start_sha: Type.String({ description: 'Full ID of the commit that a new branch starts from' }),
        start_project: Type.String({
          description: 'ID or full path of the project of the fork network that contains the start',
        }),
        author_email: leftOutIfBlank(Type.String({ maxLength: 255, description: 'Defaults to the caller' })),
        author_name: leftOutIfBlank(Type.String({ maxLength: 255, description: 'Defaults to the caller' })),
      }),
      stats: Type.Boolean({ default: true, description: 'Whether to count the changed lines' }),
      force: Type.Boolean({ default: false, description: 'Overwrite an existing branch' }),
    },
    rules: [mutuallyExclusive('start_branch', 'start_sha')],
    refused: badCommit,
    returns: one(CommitDetail),
    refusals: {
      400: [
        '400 Bad request - actions[<index>][<parameter>] is required for <action> action',
        'The file has changed since you started editing it: <path>',
        "Invalid start_sha '<sha>'",
        "Cannot find start_sha '<sha>'",
        ...fileTexts,
      ],
      403: [
        '403 Forbidden - You are not allowed to push into this branch',
        '403 Forbidden - Project is not included in the fork network for <project>',
      ],
      404: '404 Project Not Found',
    },
    handle: async ({ project, caller, input, ...services }) => {
      const { commit_message: message, actions, stats, start_project, ...request } = input;
      const fileActions = await mapInSlices(actions, actionFrom);
      const start =
        start_project === undefined ? undefined : await startProjectFor(services.db, caller, project, start_project);
      await refuseBranch(services, { project, caller }, input.branch);
      try {
        const change = { ...request, project, caller, message, actions: fileActions, start_project: start };
        return commitDetail(services, { caller, project }, await commitChanges(services, change), { stats });
      } catch (error) {
        if (error instanceof FileChanged)
          throw badRequest(`The file has changed since you started editing it: ${error.file_path}`);
        throw error;
      }
    },
  }),
  post(`${path}/:sha/cherry_pick`, {
    operation: 'cherryPickCommit',
    summary: 'Cherry-pick a commit',
    access: branchWriter,
    input: {
      ...pickInput,
      message: leftOutIfBlank(
        optional(Type.String({ description: 'Defaults to the message of the commit with its source' })),
      ),
    },
    returns: picked,
    refusals: {
      400: [
        'Sorry, we cannot cherry-pick this commit automatically. This commit may already have been cherry-picked, or a more recent commit may have updated some of its content.',
        ...commitTexts,
      ],
      403: '403 Forbidden - You are not allowed to push into this branch',
      404: ['404 Commit Not Found', '404 Branch Not Found'],
    },
    handle: ({ project, caller, input, ...services }) =>
      pickReply(services, { ...input, kind: 'cherry-pick', project, caller }),
  }),
  post(`${path}/:sha/revert`, {
    operation: 'revertCommit',
    summary: 'Revert a commit',
    access: branchWriter,
    input: pickInput,
    returns: picked,
    refusals: {
      400: [
        'Sorry, we cannot revert this commit automatically. This commit may already have been reverted, or a more recent commit may have updated some of its content.',
        ...commitTexts,
      ],
      403: '403 Forbidden - You are not allowed to push into this branch',
      404: ['404 Commit Not Found', '404 Branch Not Found'],
    },
    handle: ({ project, caller, input, ...services }) =>
      pickReply(services, { ...input, kind: 'revert', project, caller }),
  }),
];
