/** The interface of saved views to other districts. */
export { SavedView } from './routes.ts';
