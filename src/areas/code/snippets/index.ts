/** What others may use of snippets. */
export { snippetRepositories } from './kind.ts';
