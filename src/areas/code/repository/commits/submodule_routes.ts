/** Updates a submodule to another commit (docs/reference/repository.md#submodules). */
import { Type } from 'typebox';
import { branchWriter } from '../../../../access/index.ts';
import { entryAt, isEmpty, repositoryOf } from '../../../../git/index.ts';
import { badRequest, forbidden, NotBlank, one, optional, put, refusedAs } from '../../../../http/index.ts';
import { CommitDetail } from '../present.ts';
import { branchRefusal, mayCommitTo } from '../push_checks/checks.ts';
import { fileTexts } from '../push_checks/refusal_rules.ts';
import { commitOnto } from './actions.ts';
import { noSubmodule } from './file_actions.ts';
import { commitDetail } from './git.ts';

const emptyText = 'The repository is empty';

export const submoduleRoutes = [
  put('/projects/:id/repository/submodules/:submodule', {
    operation: 'updateSubmodule',
    summary: 'Have a submodule stand at another commit',
    access: branchWriter,
    input: {
      submodule: Type.String({ description: 'Path of the submodule' }),
      branch: NotBlank({ description: 'The branch to commit to' }),
      commit_sha: refusedAs(
        'is invalid',
        Type.String({ pattern: '^[0-9a-fA-F]{40}$', description: 'Full ID of the commit' }),
      ),
      commit_message: optional(Type.String({ description: 'By default `Update submodule <path> with oid <sha>`' })),
    },
    returns: one(CommitDetail),
    refusals: {
      400: [emptyText, noSubmodule, 'The submodule <path> is already at <sha>', ...fileTexts],
      403: '403 Forbidden - You are not allowed to push into this branch',
    },
    handle: async ({ project, caller, input, ...services }) => {
      const { submodule: path, branch } = input;
      const commit_id = input.commit_sha.toLowerCase();
      const repository = repositoryOf(services, project);
      if (await isEmpty(repository)) throw badRequest(emptyText);
      if (!(await mayCommitTo(services, { project, caller }, branch))) throw forbidden(branchRefusal);
      const message = input.commit_message || `Update submodule ${path} with oid ${commit_id}`;
      const id = await commitOnto(services, { project, caller, branch, message }, async (parent) => {
        const there = parent === null ? undefined : await entryAt(repository, parent, path);
        if (there?.type === 'commit' && there.id === commit_id)
          throw badRequest(`The submodule ${path} is already at ${commit_id}`);
        return [{ action: 'submodule', file_path: path, commit_id }];
      });
      return commitDetail(services, { caller, project }, id, { stats: true });
    },
  }),
];
