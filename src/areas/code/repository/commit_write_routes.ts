/** Making commits without a push (repository.md sections 5.3 and 5.4). */
import { type Static, Type } from 'typebox';
import { codeWriter } from '../../../access/index.ts';
import { readCommit, resolveCommit } from '../../../git/index.ts';
import { repositoryOf } from '../../../git/place.ts';
import {
  AnyText,
  allOptional,
  badRequest,
  byOutcome,
  forbidden,
  found,
  mutuallyExclusive,
  NotBlank,
  one,
  optional,
  post,
  refusedAs,
  required,
  type Services,
} from '../../../http/index.ts';
import { type Picking, pickCommit } from './cherry_pick_actions.ts';
import { commitChanges } from './commit_actions.ts';
import { commitDetail } from './commit_queries.ts';
import { type FileAction, FileChanged } from './file_actions.ts';
import { startProjectFor } from './fork_network_queries.ts';
import { Commit, CommitDetail, presentCommit } from './present.ts';
import { branchRefusal, mayCommitTo, type Push } from './push_check_rules.ts';

/** As for single files: a body of 10 MiB in Base64, escaped as a form, is four times as long. */
const bodyLimit_bytes = 100 * 1024 * 1024;

const kinds = ['create', 'update', 'move', 'delete', 'chmod'] as const;
const Action = Type.Object({
  action: refusedAs(`must be one of: ${kinds.join(', ')}`, required(Type.Enum([...kinds]))),
  file_path: required(Type.String()),
  previous_path: optional(Type.String({ description: 'Where the file that moves is' })),
  content: optional(AnyText()),
  encoding: refusedAs(
    'must be text or base64',
    Type.Enum(['text', 'base64'], { default: 'text', description: 'How `content` is encoded' }),
  ),
  last_commit_id: optional(Type.String({ description: 'Last commit of the file that the caller knows of' })),
  execute_filemode: optional(refusedAs('must be a boolean', Type.Boolean({ description: 'Whether the file can be executed' }))),
});

const badCommit = (text: string) => badRequest(`400 Bad request - ${text}`);

/** @throws ApiError 400 when an action lacks what its kind needs */
function actionFrom(given: Static<typeof Action>, index: number): FileAction {
  const { action, file_path, previous_path, last_commit_id, execute_filemode, encoding } = given;
  const content = given.content === undefined ? undefined : Buffer.from(given.content, encoding === 'base64' ? 'base64' : 'utf8');
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
  dry_run: Type.Boolean({ default: false, description: 'Only says whether it would work' }),
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
    summary: 'Commit changes of several files, all or none',
    access: codeWriter,
    body_limit_bytes: bodyLimit_bytes,
    input: {
      branch: required(Type.String({ description: 'The branch to commit to' })),
      commit_message: required(Type.String()),
      actions: refusedAs('must be an array', required(Type.Array(Action))),
      ...allOptional({
        start_branch: Type.String({ description: 'The branch that a new branch begins at' }),
        start_sha: Type.String({ description: 'Full id of the commit that a new branch begins at' }),
        start_project: Type.String({ description: 'Id or full path of the fork, or its source, that has the start' }),
        author_email: Type.String({ description: "By default the caller's" }),
        author_name: Type.String({ description: "By default the caller's" }),
      }),
      stats: Type.Boolean({ default: true, description: 'Whether to count the changed lines' }),
      force: Type.Boolean({ default: false, description: 'Whether a branch that is there already begins anew' }),
    },
    rules: [mutuallyExclusive('start_branch', 'start_sha')],
    refused: badCommit,
    returns: one(CommitDetail),
    handle: async ({ project, caller, input, ...services }) => {
      const { commit_message: message, actions, stats, start_project, ...request } = input;
      const fileActions = actions.map(actionFrom);
      const start = start_project === undefined ? undefined : await startProjectFor(services.db, caller, project, start_project);
      await refuseBranch(services, { project, caller }, input.branch);
      try {
        const change = { ...request, project, caller, message, actions: fileActions, start_project: start };
        return commitDetail(services, project, await commitChanges(services, change), { stats });
      } catch (error) {
        if (error instanceof FileChanged)
          throw badRequest(`The file has changed since you started editing it: ${error.file_path}`);
        throw error;
      }
    },
  }),
  post(`${path}/:sha/cherry_pick`, {
    summary: 'Make the changes of a commit once more, on a branch',
    access: codeWriter,
    input: {
      ...pickInput,
      message: optional(Type.String({ description: "By default the commit's own, and where it comes from" })),
    },
    returns: picked,
    handle: ({ project, caller, input, ...services }) => pickReply(services, { ...input, kind: 'cherry-pick', project, caller }),
  }),
  post(`${path}/:sha/revert`, {
    summary: 'Take back the changes of a commit, on a branch',
    access: codeWriter,
    input: pickInput,
    returns: picked,
    handle: ({ project, caller, input, ...services }) => pickReply(services, { ...input, kind: 'revert', project, caller }),
  }),
];
