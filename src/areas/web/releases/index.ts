export { releasePages } from './pages.ts';
