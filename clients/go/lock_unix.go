//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package callerstats

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// tryLock takes the lock of the kernel that lasts until the file is closed or the process ends.
func tryLock(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

func isRunning(pid int) bool {
	// 0 and negative numbers mean groups of processes.
	return pid > 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// placeOfProcess is where the id of this process means this process. Empty if that is not known: on Linux, containers have ids
// of their own.
func placeOfProcess() string {
	if runtime.GOOS != "linux" {
		return runtime.GOOS
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, linkErr := os.Readlink("/proc/self/ns/pid")
	if err != nil || linkErr != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + namespace
}
