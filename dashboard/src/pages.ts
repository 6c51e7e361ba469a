/** The pages, loaded on demand or preloaded shortly before. */
import { lazyCode } from './navigation/lazy-code.js';

const LOADERS = {
  signIn: () => import('./pages/sign-in/sign-in-page.js').then((module) => module.SignInPage),
  setUpNeeded: () => import('./pages/set-up-needed-page.js').then((module) => module.SetUpNeededPage),
  secondFactorNeeded: () =>
    import('./pages/account/second-factor-needed-page.js').then((module) => module.SecondFactorNeededPage),
  setUp: () => import('./pages/set-up-page.js').then((module) => module.SetUpPage),
  join: () => import('./pages/join-page.js').then((module) => module.JoinPage),
  reset: () => import('./pages/reset-page.js').then((module) => module.ResetPage),
  projects: () => import('./pages/projects/projects-page.js').then((module) => module.ProjectsPage),
  keys: () => import('./pages/keys/keys-page.js').then((module) => module.KeysPage),
  sources: () => import('./pages/sources/sources-page.js').then((module) => module.SourcesPage),
  shared: () => import('./pages/shared/shared-page.js').then((module) => module.SharedPage),
  settings: () => import('./pages/settings/settings-page.js').then((module) => module.SettingsPage),
  newProject: () => import('./pages/new-project-page.js').then((module) => module.NewProjectPage),
  members: () => import('./pages/members/members-page.js').then((module) => module.MembersPage),
  audit: () => import('./pages/audit/audit-page.js').then((module) => module.AuditPage),
  tryApi: () => import('./pages/try/try-page.js').then((module) => module.TryPage),
  account: () => import('./pages/account/account-page.js').then((module) => module.AccountPage),
} as const;

/** The overview is part of the app's code: most visits need it first. */
type PageName = keyof typeof LOADERS | 'overview';

/** The page of a path: the first pattern that matches. */
const PATHS: readonly (readonly [path: RegExp, page: PageName])[] = [
  [/^\/projects\/[^/]+\/keys$/, 'keys'],
  [/^\/projects\/[^/]+\/sources$/, 'sources'],
  [/^\/projects\/[^/]+\/settings$/, 'settings'],
  [/^\/(projects\/[^/]+)?$/, 'overview'],
  [/^\/projects$/, 'projects'],
  [/^\/sign-in$/, 'signIn'],
  [/^\/set-up$/, 'setUp'],
  [/^\/join$/, 'join'],
  [/^\/reset$/, 'reset'],
  [/^\/new-project$/, 'newProject'],
  [/^\/members$/, 'members'],
  [/^\/audit$/, 'audit'],
  [/^\/account$/, 'account'],
  [/^\/docs\/try$/, 'tryApi'],
  [/^\/share\/[^/]+$/, 'shared'],
];

function findPage(path: string): PageName | undefined {
  return PATHS.find(([pattern]) => pattern.test(path))?.[1];
}

/** Whether there is a page at a path. */
export function isPage(path: string): boolean {
  return findPage(path) !== undefined;
}

/** Preloads the page of a path. */
export function preloadPage(path: string): void {
  const page = findPage(path);
  // Opening the page reports the error.
  if (page !== undefined && page !== 'overview') LOADERS[page]().catch(() => undefined);
}

export { OverviewPage } from './pages/overview/overview-page.js';
export const SignInPage = lazyCode(LOADERS.signIn);
export const SetUpNeededPage = lazyCode(LOADERS.setUpNeeded);
export const SecondFactorNeededPage = lazyCode(LOADERS.secondFactorNeeded);
export const SetUpPage = lazyCode(LOADERS.setUp);
export const JoinPage = lazyCode(LOADERS.join);
export const ResetPage = lazyCode(LOADERS.reset);
export const ProjectsPage = lazyCode(LOADERS.projects);
export const KeysPage = lazyCode(LOADERS.keys);
export const SourcesPage = lazyCode(LOADERS.sources);
export const SettingsPage = lazyCode(LOADERS.settings);
export const NewProjectPage = lazyCode(LOADERS.newProject);
export const MembersPage = lazyCode(LOADERS.members);
export const AuditPage = lazyCode(LOADERS.audit);
export const AccountPage = lazyCode(LOADERS.account);
export const SharedPage = lazyCode(LOADERS.shared);
export const TryPage = lazyCode(LOADERS.tryApi);
