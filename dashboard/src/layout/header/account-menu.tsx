/** The menu of the signed-in user. */
import { Keyboard, LogOut, MonitorCog, Moon, Sun, UserRound } from 'lucide-react';
import { useLocation } from 'wouter';
import { signOut } from '../../api/people/sign-in.js';
import { useUser } from '../../api/session.js';
import { toast } from '../../components/feedback/toasts.js';
import { Menu } from '../../components/overlays/menu.js';
import { basePath } from '../../navigation/base-path.js';
import { setTheme, useTheme } from '../../preferences/theme.js';

export async function leave(): Promise<void> {
  try {
    await signOut();
    // Reload the page, so that no data stays in memory.
    location.assign(`${basePath}/sign-in`);
  } catch (error) {
    toast(`You are still signed in. ${error instanceof Error ? error.message : ''}`, 'danger');
  }
}

export function AccountMenu({ onShortcuts, isCompact }: { onShortcuts: () => void; isCompact: boolean }) {
  const user = useUser();
  const theme = useTheme();
  const [, navigate] = useLocation();
  const name = user.name === '' ? user.email : user.name;
  const mark = (of: typeof theme): string => (of === theme ? ' ✓' : '');
  return (
    <Menu
      label="Account"
      align={isCompact ? 'end' : 'start'}
      items={[
        { heading: user.email },
        { label: 'Your account', icon: UserRound, onSelect: () => navigate('/account') },
        { label: 'Keyboard shortcuts', icon: Keyboard, onSelect: onShortcuts },
        'line',
        { label: `Light${mark('light')}`, icon: Sun, onSelect: () => setTheme('light') },
        { label: `Dark${mark('dark')}`, icon: Moon, onSelect: () => setTheme('dark') },
        { label: `Like the system${mark('system')}`, icon: MonitorCog, onSelect: () => setTheme('system') },
        'line',
        { label: 'Sign out', icon: LogOut, onSelect: () => void leave() },
      ]}
      button={(props) => (
        <button {...props} type="button" className="who">
          <span className="who-initial" aria-hidden>
            {[...name][0]?.toUpperCase()}
          </span>
          <span className={isCompact ? 'out-of-sight' : 'who-name'}>{name}</span>
          <span className="out-of-sight">Account menu</span>
        </button>
      )}
    />
  );
}
