export { deploymentPages } from './pages.ts';
