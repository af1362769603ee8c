/** Applying suggestions: one commit on the source branch (docs/reference/merge_requests.md#suggestions). */
import { type Project, projectFor, reasonForReadOnly, theMergeRequest } from '../../../../access/index.ts';
import { isAmong, repeated } from '../../../../db/index.ts';
import { fetchCommit, objectHeader, type Repository, repositoryOf, resolveBranch } from '../../../../git/index.ts';
import { ApiError, badRequest, type Caller, forbidden, type Services } from '../../../../http/index.ts';
import { mapInSlices } from '../../../../markdown/index.ts';
import { commitOnto, type FileAction, mayCommitTo } from '../../../code/repository/index.ts';
import { linesAt, markResolved, movedBetween, spanOf, suggestibleFile } from '../../../conversation/notes/index.ts';
import { factsOf, type MergeFacts } from '../branch_queries.ts';
import { suggestionMessage } from '../message_rules.ts';
import { mergeRequestNoun } from '../noteable.ts';
import { authorsOf, messageSettings, type Suggested, suggestionsWith, targetOf } from './suggestion_queries.ts';
import {
  changedSince,
  type Replacement,
  rangeOf,
  refuseInapplicable,
  replaced,
  suggestionTexts,
} from './suggestion_rules.ts';

export interface Applying {
  caller: Caller;
  ids: readonly number[];
  /** The refusal if one of them does not exist or is hidden from the caller. */
  missing: string;
  /** Defaults to the template of the project; its placeholders are replaced too. */
  commit_message?: string | undefined;
}

/** Suggestions that may be applied, with the data needed to apply them. */
interface Checked {
  suggested: readonly Suggested[];
  facts: MergeFacts;
  target: Project;
  source: Project;
}

/**
 * Applies suggestions of one merge request in one commit. The caller needs the right to commit to its source branch. Resolves their threads if the caller may.
 * @throws ApiError 400 if one cannot be applied or the commit is refused, 403 if the caller may not commit to the branch, 404
 */
export async function applySuggestions(services: Services, request: Applying): Promise<void> {
  const { caller, ids } = request;
  const checked = await checkedSuggestions(services, request);
  const { suggested, facts, target, source } = checked;
  const message = await messageFor(services, request, checked);
  const branch = { project: source, caller, branch: facts.source_branch };
  const commit_id = await commitOnto(services, { ...branch, ...message }, (head) =>
    actionsFor(services, checked, head),
  );
  // The commit is the change. If this step fails, the threads are outdated by the changed lines anyway.
  await repeated(services.db, async (tx) => {
    await tx
      .updateTable('suggestions')
      .set({ commit_id })
      .where(isAmong('id', ids, 'bigint[]'))
      .execute();
    const on = { ...theMergeRequest(facts.id), iid: facts.iid };
    const granted = {
      caller,
      on: { ...on, in: { project: target }, access_level: target.access_level, locked: false },
    };
    if (!(await mergeRequestNoun.threads.mayResolve(tx, granted))) return;
    const discussion_ids = [...new Set(suggested.map(({ discussion_id }) => discussion_id))];
    await markResolved(tx, mergeRequestNoun.threads, on, caller.id, { discussion_ids }, true);
  });
}

async function checkedSuggestions(services: Services, { caller, ids, missing }: Applying): Promise<Checked> {
  const { db } = services;
  const suggested = await suggestionsWith(db, caller, ids);
  const [first] = suggested;
  if (!first || suggested.length < new Set(ids).size) throw new ApiError(404, { message: missing });
  const { merge_request_id, project_id } = first;
  if (suggested.some((other) => other.merge_request_id !== merge_request_id))
    throw badRequest(suggestionTexts.branches);
  const facts = await factsOf(db, merge_request_id);
  const target = await targetOf(db, caller, project_id);
  const source = facts.source && (await projectFor(db, caller, String(facts.source.id)));
  if (target.read_only) throw forbidden(reasonForReadOnly(target));
  if (
    facts.source &&
    !(source && !source.read_only && (await mayCommitTo(services, { project: source, caller }, facts.source_branch)))
  )
    throw forbidden();
  for (const suggestion of suggested) refuseInapplicable(facts, suggestion);
  if (!source || (await resolveBranch(repositoryOf(services, source), facts.source_branch)) === undefined)
    throw badRequest(suggestionTexts.branch);
  return { suggested, facts, target, source };
}

/** The message and the author: the common author of all suggestions, or else the caller, with the others in trailers. */
async function messageFor(
  services: Services,
  { caller, commit_message }: Applying,
  { suggested, facts, target }: Checked,
) {
  const [authors, project] = await Promise.all([
    authorsOf(services, suggested),
    messageSettings(services.db, target.id),
  ]);
  const [only, ...more] = authors;
  const isOnly = only !== undefined && more.length === 0;
  const paths = [...new Set(suggested.map(({ position }) => position.new_path!))];
  const message = suggestionMessage(commit_message ?? project.suggestion_commit_message, {
    branch_name: facts.source_branch,
    files_count: String(paths.length),
    file_paths: paths.join(', '),
    project_path: project.full_path,
    project_name: project.name,
    suggestions_count: String(suggested.length),
    username: caller.username,
    user_full_name: caller.name,
    co_authored_by: isOnly
      ? ''
      : authors
          .filter(({ id }) => id !== caller.id)
          .map(({ name, email }) => `Co-authored-by: ${name} <${email}>`)
          .join('\n'),
  });
  return { message, ...(isOnly ? { author_name: only.name, author_email: only.email } : {}) };
}

/**
 * The file changes, computed on the current head of the branch, which may be newer than the version of the suggestions.
 * @throws ApiError 400 if the branch no longer has the lines
 */
async function actionsFor(
  services: Services,
  { suggested, facts, source }: Checked,
  head: string | null,
): Promise<FileAction[]> {
  if (head === null) throw badRequest(suggestionTexts.branch);
  const repository = repositoryOf(services, source);
  const files = new Map<string, { content: Buffer; replacements: Replacement[] }>();
  for (const [sha, group] of Map.groupBy(suggested, ({ position }) => position.head_sha)) {
    if (sha !== head) await bring(repositoryOf(services, facts.target), repository, sha);
    const moved = movedBetween(repository, sha, head);
    await mapInSlices(group, async (suggestion) => {
      const { from, to } = rangeOf(suggestion);
      const { path, lines } = await (await moved)(suggestion.position.new_path!, [from, to]);
      const file = path === undefined ? undefined : (files.get(path) ?? (await fileAt(repository, head, path)));
      if (path === undefined || !file) throw badRequest(suggestionTexts.file);
      const [start, end] = [lines.get(from), lines.get(to)];
      const span = start && end && end - start === to - from ? spanOf(file.content, start, end) : undefined;
      if (!span || linesAt(file.content, span) !== suggestion.from_content) throw changedSince(suggestion);
      file.replacements.push({ span, to_content: suggestion.to_content });
      files.set(path, file);
    });
  }
  return [...files].map(([file_path, { content, replacements }]) => ({
    action: 'update',
    file_path,
    content: replaced(content, replacements),
  }));
}

/** The target repository keeps the commits of all versions; a fork with a rewritten branch may lack them. */
async function bring(from: Repository, into: Repository, sha: string): Promise<void> {
  if (from.path !== into.path && !(await objectHeader(into, sha))) await fetchCommit(from, into, sha);
}

async function fileAt(repository: Repository, head: string, path: string) {
  const content = await suggestibleFile(repository, head, path);
  return content && { content, replacements: [] };
}
