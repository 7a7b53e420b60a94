# package - Debian packages: cmake --workflow --preset deb
#
# fairq holds the component runtime, fairq-redis the component redis, fairq-dev the component development. Debian has two other programs
# called fq: /usr/bin/fq of nq (it follows that queue) and of fq (it decodes binary files), so the package is
# not called fq and does not go with these.
set(CPACK_PACKAGE_NAME fairq)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL runtime development)
if(FQ_REDIS)
  list(APPEND CPACK_COMPONENTS_ALL redis)
endif()
set(CPACK_STRIP_FILES OFF)  # the binary is stripped, and an archive must keep its symbols
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_THREADS 0)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# As dch has it. Nobody answers at the address that stands in when these are not set.
set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
if("$ENV{DEBFULLNAME}" STREQUAL "" OR "$ENV{DEBEMAIL}" STREQUAL "")
  set(maintainer "the fq authors <fq@localhost>")
endif()
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${maintainer})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME fairq)
set(CPACK_DEBIAN_RUNTIME_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)  # none, where fq is linked statically
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONFLICTS "fq, nq")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "fairq-redis (= ${PROJECT_VERSION}-1), fairq-dev (= ${PROJECT_VERSION}-1), jq")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "fair message queue for the shell, without a daemon
fq push puts a message into the queue of its tenant, and fq pop and fq worker
take turns over the tenants, so that one tenant with a million messages delays
another's single message by one turn. A queue is a directory: a journal makes
every accepted message survive a crash and a power cut.
.
The program is called fq. Debian has two others of that name, in the packages
nq and fq; this package is called otherwise and cannot stand beside these.")

# The server may be on another machine; fq and fq-redis are one program in two, so of one version.
set(CPACK_DEBIAN_REDIS_PACKAGE_NAME fairq-redis)
set(CPACK_DEBIAN_REDIS_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_REDIS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_REDIS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_REDIS_PACKAGE_DEPENDS "fairq (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_REDIS_PACKAGE_SUGGESTS "redis-server")
set(CPACK_COMPONENT_REDIS_DESCRIPTION "fair message queue for the shell, on a Redis server
The same commands on queues that many machines share: where the spool of fq is
the address of a server of Redis 7 or Valkey, fq goes on as fq-redis, with the
same turns, limits and words.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME fairq-dev)
set(CPACK_DEBIAN_DEVELOPMENT_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "fairq (= ${PROJECT_VERSION}-1), cmake, pkg-config")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "fair message queue for the shell, as a C++20 library
What a C++ program needs to push messages into the queues of fq and to take
them from there: the headers <fq/api/queue.h>, a static library, a package for
CMake and one for pkg-config.")

# What Debian wants elsewhere, compressed, or written in its own way.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/core/install/debian/arrange.cmake)
set(CPACK_FQ_DEBIAN_DIR ${CMAKE_SOURCE_DIR}/core/install/debian)
set(CPACK_FQ_DOC_DIR ${CMAKE_INSTALL_DOCDIR})
include(CPack)
