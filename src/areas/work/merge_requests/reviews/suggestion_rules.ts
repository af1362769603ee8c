/** Applying suggestions: refusals, and the resulting content of a file (docs/reference/merge_requests.md#suggestions). Pure functions. */
import { badRequest } from '../../../../http/index.ts';
import { type LineSpan, suggestedLine } from '../../../conversation/notes/index.ts';
import type { MergeFacts } from '../branch_queries.ts';
import type { Suggested } from './suggestion_queries.ts';

/** Why a suggestion cannot be applied, in the wording of v4. */
export const suggestionTexts = {
  applied: "Can't apply this suggestion.",
  merged: 'This merge request was merged. To apply this suggestion, edit this file directly.',
  closed: 'This merge request is closed. To apply this suggestion, edit this file directly.',
  branch: "Can't apply as the source branch was deleted.",
  line: "Can't apply as this line was changed in a more recent version.",
  lines: "Can't apply as these lines were changed in a more recent version.",
  same: 'This suggestion already matches its content.',
  file: 'A file was not found.',
  branches: 'Suggestions must all be on the same branch.',
  overlap: 'Suggestions are not applicable as their lines cannot overlap.',
} as const;

export const missingText = {
  one: 'Suggestion is not applicable as the suggestion was not found.',
  some: 'Suggestions are not applicable as one or more suggestions were not found.',
} as const;

/** The lines that a suggestion replaces, at its position. */
export function rangeOf({ position, lines_above, lines_below }: Suggested): { from: number; to: number } {
  const line = suggestedLine(position) ?? 0;
  return { from: line - lines_above, to: line + lines_below };
}

/** The refusal of a suggestion whose lines have changed. */
export const changedSince = ({ lines_above, lines_below }: Suggested) =>
  badRequest(suggestionTexts[lines_above + lines_below === 0 ? 'line' : 'lines']);

/**
 * Refuses a suggestion that cannot be applied, if that can be determined without reading the code.
 * @throws ApiError 400
 */
export function refuseInapplicable({ state, source, source_branch_gone }: MergeFacts, suggestion: Suggested): void {
  if (suggestion.is_applied) throw badRequest(suggestionTexts.applied);
  if (state === 'merged' || state === 'locked') throw badRequest(suggestionTexts.merged);
  if (state === 'closed') throw badRequest(suggestionTexts.closed);
  if (!source || source_branch_gone) throw badRequest(suggestionTexts.branch);
  if (suggestion.is_outdated) throw changedSince(suggestion);
  if (suggestion.from_content === suggestion.to_content) throw badRequest(suggestionTexts.same);
}

/** A range of lines in a file, and its replacement. */
export interface Replacement {
  span: LineSpan;
  to_content: string;
}

/**
 * A file with replacements applied.
 * @throws ApiError 400 if they overlap
 */
export function replaced(content: Buffer, replacements: readonly Replacement[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const { span, to_content } of replacements.toSorted((one, other) => one.span.start - other.span.start)) {
    if (span.start < at) throw badRequest(suggestionTexts.overlap);
    parts.push(content.subarray(at, span.start), Buffer.from(to_content));
    at = span.end;
  }
  return Buffer.concat([...parts, content.subarray(at)]);
}
