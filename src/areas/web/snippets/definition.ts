/** The two kinds of snippets: of a project, and personal ones. */
import type { Static } from 'typebox';
import { pageBelow } from '../../../access/index.ts';
import type { PageCall, Place } from '../../../pages/index.ts';
import type { SnippetForm } from '../../code/snippets/index.ts';

export type ShownSnippet = Static<typeof SnippetForm>;

/** What differs between the kinds. */
export const kinds = {
  project: {
    start: '/:id/-/snippets',
    one: '/:id/-/snippets/:snippet_id',
    get: 'getProjectSnippet',
    file: 'getRawProjectSnippetFile',
    create: 'createProjectSnippet',
    update: 'updateProjectSnippet',
    remove: 'deleteProjectSnippet',
  },
  personal: {
    start: '/-/snippets',
    one: '/-/snippets/:id',
    get: 'getSnippet',
    file: 'getRawSnippetFile',
    create: 'createSnippet',
    update: 'updateSnippet',
    remove: 'deleteSnippet',
  },
} as const;

export type Kind = keyof typeof kinds;

/** The list of the visitor's snippets. */
const ownSnippetsPage = '/dashboard/snippets';

/** The list that a snippet is in. */
export const listOf = (kind: Kind, { params }: PageCall): string =>
  kind === 'project' ? pageBelow.project(params.id!, 'snippets') : ownSnippetsPage;

/** The place of pages of a kind. */
export const placeOf = (kind: Kind, id: string): { place?: Place } =>
  kind === 'project' ? { place: { id, kind: 'project', tab: 'snippets' } } : {};
