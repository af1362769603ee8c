/** The interface of writing texts to the list of pages. */
export { writingPages } from './pages.ts';
export { previewOf } from './present.ts';
