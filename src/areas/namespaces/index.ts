/** What other areas may use of namespaces. */
export { addUserNamespace } from './actions.ts';
