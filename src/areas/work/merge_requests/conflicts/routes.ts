/** The conflicts of a merge request, for the page that shows and resolves them. */
import { Type } from 'typebox';
import { mergeRequestReader } from '../../../../access/index.ts';
import { AnyText, get, NotBlank, notFound, nothing, nullable, one, post, resource } from '../../../../http/index.ts';
import { fileTexts } from '../../../code/repository/index.ts';
import { factsOf } from '../branch_queries.ts';
import { resolutionTexts, resolveConflicts } from './actions.ts';
import { conflictsOf } from './git.ts';

const Text = nullable(Type.String());
export const MergeRequestConflicts = resource('MergeRequestConflicts', {
  source_head: Type.String(),
  target_head: Type.String(),
  files: Type.Array(Type.Object({ path: Type.String(), text: Text, source_text: Text, target_text: Text })),
  has_more: Type.Boolean(),
});

const path = '/projects/:id/merge_requests/:merge_request_iid/conflicts';
const { movedText, noneText, unresolvedText } = resolutionTexts;

/** For pages only. */
export const mergeRequestConflictRoutes = [
  get(path, {
    operation: 'getMergeRequestConflicts',
    summary: 'Get the files in which the branches of a merge request conflict',
    access: mergeRequestReader,
    returns: one(MergeRequestConflicts),
    refusals: { 404: '404 Conflict Not Found' },
    handle: async ({ merge_request, ...services }) => {
      const conflicts = await conflictsOf(services, await factsOf(services.db, merge_request.id));
      if (!conflicts) throw notFound('Conflict');
      return conflicts;
    },
  }),
  post(path, {
    operation: 'resolveMergeRequestConflicts',
    summary: 'Merge the target branch into the source branch, with resolved files',
    access: mergeRequestReader,
    body_limit_bytes: 10 * 1024 * 1024,
    input: {
      source_head: Type.String(),
      target_head: Type.String(),
      commit_message: NotBlank(),
      files: Type.Array(Type.Object({ path: Type.String(), content: AnyText() })),
    },
    returns: nothing,
    refusals: {
      400: [unresolvedText, noneText, ...fileTexts],
      403: '403 Forbidden - Cannot push to source branch',
      405: '405 Method Not Allowed',
      409: movedText,
    },
    handle: async ({ caller, merge_request, input, ...services }) => {
      const files = input.files.map(({ path: name, content }) => ({
        path: name,
        content: typeof content === 'string' ? Buffer.from(content) : Buffer.from(content),
      }));
      const facts = await factsOf(services.db, merge_request.id);
      const { commit_message: message, source_head, target_head } = input;
      await resolveConflicts(services, caller, facts, { source_head, target_head, message, files });
    },
  }),
];
