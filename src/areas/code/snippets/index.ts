/** What others may use of snippets. */
export { snippetRepositories } from './kind.ts';
export { presentSnippetIdentity, SnippetIdentity } from './present.ts';
export { snippetsWith } from './relation.ts';
