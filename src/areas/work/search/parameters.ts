/** The parameters of searches (docs/reference/search.md). */
import { Type } from 'typebox';
import { allOptional, NotBlank } from '../../../http/index.ts';
import { keysetPaging } from '../../../lists/index.ts';

const branches = allOptional({
  author_username: Type.String(),
  source_branch: Type.String(),
  target_branch: Type.String(),
});

/** The parameters of all levels, except `scope`. */
export const searchInput = {
  ...keysetPaging,
  search: NotBlank({ description: 'What to find, in any case; words that must all occur, or a "phrase"' }),
  ...allOptional({
    state: Type.Enum(['opened', 'closed', 'merged', 'locked', 'all'], { description: 'Of issues and merge requests' }),
    confidential: Type.Boolean({ description: 'Of issues' }),
    order_by: Type.Enum(['created_at', 'updated_at']),
    sort: Type.Enum(['asc', 'desc']),
    ref: Type.String({ description: 'A branch, tag or commit to search in; for code, commits and wikis of a project' }),
    fields: Type.Array(Type.Enum(['title']), { description: 'Where to search issues and merge requests' }),
    label_name: Type.Array(Type.String(), { maxItems: 30 }),
    ...branches,
    not: Type.Object(branches),
    search_type: Type.Enum(['basic', 'advanced', 'zoekt'], { description: 'Accepted for clients that send it' }),
  }),
  include_archived: Type.Boolean({ default: false, description: 'Whether archived projects are searched, too' }),
  exclude_forks: Type.Boolean({ default: false, description: 'Whether forks are left out, of code and commits' }),
  regex: Type.Boolean({
    default: false,
    description: 'Whether `search` is a regular expression in RE2 syntax, for code',
  }),
  num_context_lines: Type.Integer({
    default: 2,
    minimum: 0,
    maximum: 20,
    description: 'Lines shown before and after a match, of code and wikis',
  }),
};
