/** The pages of issue boards. */
export { boardPages } from './pages.ts';
