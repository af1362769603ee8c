/** What rules of policies ask about a merge request. Whoever evaluates a policy gathers the facts that its rules need, and only those. */
import type { severities } from '../advisories/index.ts';

/** A vulnerability of a package that the head of a merge request depends on. */
export interface FoundVulnerability {
  /** The CVE ID, otherwise a summary. */
  name: string;
  severity: (typeof severities)[number];
  /** The package, with its version. */
  package: string;
  /** The first later version that is not affected; null if none is known. */
  fixed_version: string | null;
  /** Whether the merge base does not have it. */
  is_new: boolean;
  /** What people have decided about it in the project. */
  state: 'detected' | 'dismissed' | 'resolved';
  /** How long the project has had it; null if its default branch does not have it. */
  age_days: number | null;
}

/** A package that the head of a merge request depends on. */
export interface LicensedPackage {
  /** The package, with its version. */
  package: string;
  /** Identifiers of SPDX, or the words of the package; `unknown` alone if nothing says so. */
  licenses: readonly string[];
  /** Whether the merge base does not have it under the same licenses. */
  is_new: boolean;
}

export interface Facts {
  /** How many commits of the merge request have no signature. */
  unsigned_commits: number;
  vulnerabilities: readonly FoundVulnerability[];
  packages: readonly LicensedPackage[];
}

export type FactName = keyof Facts;
