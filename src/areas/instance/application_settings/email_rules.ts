/** Which addresses may join: lists of domains, and a regular expression of what may not (docs/reference/application_settings.md). Pure functions. */
import { RE2JS, RE2JSSyntaxException } from 're2js';

export interface EmailRules {
  /** Domains that may join, and no others; empty: any. `*` stands for any text. */
  domain_allowlist: readonly string[];
  domain_denylist_enabled: boolean;
  domain_denylist: readonly string[];
  email_restrictions_enabled: boolean;
  /** What addresses must not contain, with the syntax of RE2, whose time cannot explode. */
  email_restrictions: string | null;
}

/** The rule that keeps an address out. */
export type EmailRefusal = 'allowlist' | 'denylist' | 'restrictions';

const patternFor = (domain: string) =>
  RE2JS.compile(domain.split('*').map(RE2JS.quote).join('.*'), RE2JS.CASE_INSENSITIVE | RE2JS.DOTALL);

/**
 * What tells of an address which rule keeps it out, undefined for one that may join. A domain that is allowed by name is held against no other rule.
 * @param rules as the settings have them: the regular expression is one
 */
export function emailCheck(rules: EmailRules): (email: string) => EmailRefusal | undefined {
  const allowed = rules.domain_allowlist.map(patternFor);
  const denied = rules.domain_denylist_enabled ? rules.domain_denylist.map(patternFor) : [];
  const isRestricting = rules.email_restrictions_enabled && rules.email_restrictions;
  const restricted = isRestricting ? RE2JS.compile(isRestricting, RE2JS.CASE_INSENSITIVE) : undefined;
  return (email) => {
    const domain = email.slice(email.lastIndexOf('@') + 1);
    const isAmong = (patterns: readonly RE2JS[]) => patterns.some((pattern) => pattern.matches(domain));
    if (allowed.length > 0) return isAmong(allowed) ? undefined : 'allowlist';
    if (isAmong(denied)) return 'denylist';
    return restricted?.matcher(email).find() ? 'restrictions' : undefined;
  };
}

/** Why this is no list of domains, empty when it is one. */
export function domainReasons(domains: readonly string[]): string[] {
  const wrong = domains.filter(
    (domain) => domain.length > 253 || !/^[\p{L}\p{N}*](?:[\p{L}\p{N}*.-]*[\p{L}\p{N}*])?$/u.test(domain),
  );
  return wrong.length > 0 ? [`can't include: ${wrong.join(', ')}`] : [];
}

/** Why this is no regular expression, empty when it is one. */
export function expressionReasons(expression: string | null): string[] {
  try {
    RE2JS.compile(expression ?? '');
    return [];
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return ['is not a valid regular expression'];
    throw error;
  }
}
