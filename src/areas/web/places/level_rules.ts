/** Access levels and visibilities in words. */

/** The names of roles, by access level. */
export const roleNames: Readonly<Record<string, string>> = {
  5: 'Minimal access',
  10: 'Guest',
  15: 'Planner',
  20: 'Reporter',
  30: 'Developer',
  40: 'Maintainer',
  50: 'Owner',
};

/** Who may do something with what is protected, by access level. */
export const protectionWords: Readonly<Record<string, string>> = {
  40: 'Maintainers',
  30: 'Developers and Maintainers',
  60: 'Administrators',
  0: 'No one',
};

export const featureWords: Readonly<Record<string, string>> = {
  enabled: 'Everyone with access',
  private: 'Only members',
  disabled: 'Off',
};

export const visibilityWords: Readonly<Record<string, string>> = {
  private: 'Private: only members',
  internal: 'Internal: everyone who is signed in',
  public: 'Public: everyone',
};
