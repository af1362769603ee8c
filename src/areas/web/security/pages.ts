/** Vulnerabilities and dependencies (docs/reference/vulnerabilities.md#the-pages, docs/reference/dependencies.md#the-pages). */
import { dependencyPages } from './dependency_pages.ts';
import { vulnerabilityPages } from './vulnerability_pages.ts';

export const securityPages = [...vulnerabilityPages, ...dependencyPages];
