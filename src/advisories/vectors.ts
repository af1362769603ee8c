/** CVSS vectors. */
import cvss from 'ae-cvss-calculator';
import type { Severity } from './severities.ts';

/** The severity of a CVSS base score. */
function ofScore(score: number): Severity {
  if (score >= 9) return 'critical';
  if (score >= 7) return 'high';
  if (score >= 4) return 'medium';
  return score > 0 ? 'low' : 'info';
}

const readers = [
  { pattern: /^CVSS:4\.0\//, read: (vector: string) => new cvss.Cvss4P0(vector).calculateScores().overall },
  { pattern: /^CVSS:3\.1\//, read: (vector: string) => new cvss.Cvss3P1(vector).calculateScores().base },
  { pattern: /^CVSS:3\.0\//, read: (vector: string) => new cvss.Cvss3P0(vector).calculateScores().base },
  {
    pattern: /^\(?AV:[LAN]\/AC:[HML]\/Au:[MSN]\//,
    read: (vector: string) => new cvss.Cvss2(vector.replace(/[()]/g, '')).calculateScores().base,
  },
];

/** The severity of a CVSS vector of version 2, 3 or 4; undefined for any other text. */
export function ofVector(vector: string): Severity | undefined {
  const reader = vector.length <= 300 ? readers.find(({ pattern }) => pattern.test(vector)) : undefined;
  if (!reader) return undefined;
  try {
    const score = reader.read(vector);
    return typeof score === 'number' && Number.isFinite(score) ? ofScore(score) : undefined;
  } catch {
    return undefined; // The package throws in many ways for unknown metrics.
  }
}
