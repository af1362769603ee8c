/** The interface of snippets to other districts. */
export { fillSnippet } from './arrival_actions.ts';
export { snippetRepositories } from './kind.ts';
export { snippetNoun } from './noteable.ts';
export { presentSnippet, presentSnippetIdentity, SnippetForm, SnippetIdentity } from './present.ts';
export { snippetRows } from './queries.ts';
export { snippetsWith } from './relation.ts';
